import { afterAll, expect, it, onTestFinished } from 'vitest';
import { watchMemory } from '../../src/redis/watch-memory.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

it('the used share of the memory is that of the server, and unknown where there is no limit', async () => {
  const server = await startRedisServer({ args: ['--maxmemory', '64mb'] });
  const connection = openConnection(standalone(tcp(server.port)));
  await waitForRedis(connection);
  const watch = watchMemory(connection);
  onTestFinished(() => watch.stop());
  await waitUntil(() => watch.usedShare() !== undefined, 'the server has told');
  const used = Number(/used_memory:(\d+)/.exec(await server.cli('info', 'memory'))?.[1]);
  expect(watch.usedShare()).toBeCloseTo(used / (64 * 1024 ** 2), 1);
  expect(watch.usedShare()).toBeGreaterThan(0);
  await server.cli('config', 'set', 'maxmemory', '0');
  await waitUntil(() => watch.usedShare() === undefined, 'there is no limit any more');
});
