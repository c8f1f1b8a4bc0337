import { afterEach, describe, expect, it } from 'vitest';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';
import { watchMasters } from '../../src/redis/watch-masters.ts';
import { findFreePort } from '../support/find-free-port.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { closeConnections, openConnection, standalone, tcp } from '../support/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startRelay } from './start-relay.ts';

const watches: { stop(): void }[] = [];

afterEach(async () => {
  for (const watch of watches.splice(0)) watch.stop();
  await closeConnections();
  await stopRedisServers();
});

function watch(connection: Pick<RedisConnection, 'client'>) {
  const seen = { changes: 0 };
  const watching = watchMasters({
    connection,
    log: createMemoryLog(),
    onChange: () => {
      seen.changes += 1;
    },
  });
  watches.push(watching);
  return { seen, stop: watching.stop };
}

/** How often this server was asked, by everybody. */
async function countQuestions(server: TestRedisServer): Promise<number> {
  const stats = await server.cli('INFO', 'commandstats');
  return Number(/cmdstat_info:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

/** Each look asks the server itself. */
async function waitForQuestions(server: TestRedisServer, count: number): Promise<void> {
  const before = await countQuestions(server);
  let looks = 0;
  await waitUntil(async () => {
    looks += 1;
    return (await countQuestions(server)) - before - looks >= count;
  }, `the master is asked ${count} times`);
}

describe('the watch over masters', () => {
  it('is quiet while nothing happens, also when the connection is lost and comes back', async () => {
    const server = await startRedisServer();
    const relay = await startRelay(server.port);
    const { seen } = watch(openConnection(standalone(tcp(relay.port))));
    await waitForQuestions(server, 2);
    relay.pointTo(server.port);
    await waitForQuestions(server, 2);
    expect(seen.changes).toBe(0);
  });

  it('notices that a server was started anew', async () => {
    const port = await findFreePort();
    const first = await startRedisServer({ port });
    const { seen } = watch(openConnection(standalone(tcp(port))));
    await waitForQuestions(first, 2);
    await first.stop();
    const second = await startRedisServer({ port });
    await waitUntil(() => seen.changes > 0, 'the change is noticed');
    await waitForQuestions(second, 2);
    expect(seen.changes).toBe(1);
  });

  it('notices a replica that takes over, when it is a master and not before', async () => {
    const master = await startRedisServer();
    const replica = await startRedisServer({
      args: ['--replicaof', '127.0.0.1', String(master.port), '--repl-diskless-sync-delay', '0'],
    });
    const isSynced = async () => (await replica.cli('ROLE')).includes('connected');
    await waitUntil(isSynced, 'the replica follows');
    const relay = await startRelay(master.port);
    const { seen } = watch(openConnection(standalone(tcp(relay.port))));
    await waitForQuestions(master, 2);
    relay.pointTo(replica.port);
    await waitForQuestions(replica, 2);
    expect(seen.changes).toBe(0);
    await replica.cli('REPLICAOF', 'NO', 'ONE');
    await waitUntil(() => seen.changes > 0, 'the change is noticed');
    await waitForQuestions(replica, 2);
    expect(seen.changes).toBe(1);
  });

  it('is quiet after it was stopped', async () => {
    const port = await findFreePort();
    const first = await startRedisServer({ port });
    const connection = openConnection(standalone(tcp(port)));
    const stopped = watch(connection);
    const other = watch(connection);
    await waitForQuestions(first, 4);
    stopped.stop();
    await first.stop();
    await startRedisServer({ port });
    await waitUntil(() => other.seen.changes > 0, 'another watch notices');
    expect(stopped.seen.changes).toBe(0);
  });
});
