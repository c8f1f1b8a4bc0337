import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createBreaker } from '../../src/redis/breaker.ts';
import { probeRedis } from '../../src/redis/probe-redis.ts';
import { PROBE_INTERVAL_MS, type RedisWatch, watchRedis } from '../../src/redis/watch-redis.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const watches: RedisWatch[] = [];

afterEach(async () => {
  for (const watch of watches.splice(0)) watch.stop();
  await closeConnections();
  await stopRedisServers();
});

function watchPort(port: number, clockOffsetMs = 0) {
  const clock = { nowMs: () => Date.now() + clockOffsetMs };
  const connection = openConnection(standalone(tcp(port)), 250);
  const breaker = createBreaker({ clock, random: Math.random });
  const log = createMemoryLog();
  const watch = watchRedis({ connection, breaker, clock, log });
  watches.push(watch);
  return { connection, breaker, log, watch };
}

describe('the watch over Redis', () => {
  it('counts from its start until the first success, and then says 0', async () => {
    const port = await findFreePort();
    const { watch } = watchPort(port);
    await waitUntil(() => watch.outForMs() > 0, 'time passes');
    await startRedisServer({ port });
    await waitUntil(() => watch.outForMs() === 0, 'a probe succeeds');
  });

  it('can be waited for until it has seen the server, or the time is up', async () => {
    const port = await findFreePort();
    const { watch } = watchPort(port);
    await watch.waitUntilSeen(50);
    expect(watch.outForMs()).toBeGreaterThan(0);
    const seen = watch.waitUntilSeen(30_000);
    await startRedisServer({ port });
    await seen;
    expect(watch.outForMs()).toBe(0);
  });

  it('counts while the server is frozen, opens the breaker though no one calls, and recovers', async () => {
    const server = await startRedisServer();
    const { watch, breaker, log } = watchPort(server.port);
    await waitUntil(() => watch.outForMs() === 0, 'a probe succeeds');
    const from = log.lines.length;
    server.signal('SIGSTOP');
    await waitUntil(() => watch.outForMs() > 0, 'a probe fails');
    const outForMs = watch.outForMs();
    await waitUntil(() => breaker.state() !== 'closed', 'the breaker opens');
    await waitUntil(() => watch.outForMs() > outForMs, 'it goes on counting');
    server.signal('SIGCONT');
    await waitUntil(() => watch.outForMs() === 0, 'a probe succeeds again');
    expect(breaker.state()).toBe('closed');
    // On a busy machine a probe may fail again afterwards.
    expect(log.lines.slice(from, from + 2).map((line) => line.message)).toEqual([
      'Redis does not accept writes',
      'Redis accepts writes again',
    ]);
  });

  it('counts a server that answers but would refuse an admission', async () => {
    const server = await startRedisServer();
    const { watch, log } = watchPort(server.port);
    await waitUntil(() => watch.outForMs() === 0, 'a probe succeeds');
    await server.cli('config', 'set', 'maxmemory', '1');
    await waitUntil(() => watch.outForMs() > 0, 'a probe is refused');
    expect(log.lines[0]?.fields['reason']).toMatch(/^OOM/);
    await server.cli('config', 'set', 'maxmemory', '0');
    await waitUntil(() => watch.outForMs() === 0, 'a probe succeeds again');
  });

  it('tells how far the clock of the server is ahead, and warns once when it is far', async () => {
    const server = await startRedisServer();
    const same = watchPort(server.port);
    const slow = watchPort(server.port, -60_000);
    await waitUntil(() => same.watch.outForMs() === 0, 'a probe succeeds');
    await waitUntil(() => slow.watch.outForMs() === 0, 'a probe succeeds');
    expect(slow.watch.clockSkewMs() - same.watch.clockSkewMs()).toBeGreaterThan(58_000);
    expect(same.log.lines).toEqual([]);
    expect(slow.log.lines.map((line) => line.level)).toEqual(['warn']);
  });

  it('never has two probes on their way, and stops when it is told to', async () => {
    let calls = 0;
    let settle: (() => void) | undefined;
    const connection = {
      send: () => {
        calls += 1;
        return new Promise<number>((resolve) => {
          settle = () => resolve(Date.now());
        });
      },
    };
    const clock = { nowMs: () => Date.now() };
    const breaker = createBreaker({ clock, random: Math.random });
    const watch = watchRedis({ connection, breaker, clock, log: createMemoryLog() });
    await sleep(1.5 * PROBE_INTERVAL_MS);
    expect(calls).toBe(1);
    settle?.();
    await waitUntil(() => calls === 2, 'the next probe follows');
    watch.stop();
    settle?.();
    await sleep(1.5 * PROBE_INTERVAL_MS);
    expect(calls).toBe(2);
  });
});

it('a probe changes nothing and answers with the time of the server', async () => {
  const server = await startRedisServer();
  const connection = openConnection(standalone(tcp(server.port)));
  await waitForRedis(connection);
  await server.cli('flushall');
  const before = Date.now();
  const nowMs = await probeRedis(connection, 3);
  expect(nowMs).toBeGreaterThanOrEqual(before - 1);
  expect(nowMs).toBeLessThanOrEqual(Date.now() + 1);
  expect(await server.cli('dbsize')).toBe('0');
});
