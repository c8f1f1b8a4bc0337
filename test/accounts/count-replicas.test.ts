import { expect, it } from 'vitest';
import { countReplicas } from '../../src/accounts/count-replicas.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';

it('a Redis that cannot be asked for replicas is one whose replicas are unknown', async () => {
  const unknown = new Error("ERR unknown command 'role'");
  const pipeline = { call() {}, exec: async () => [[null, 1], [unknown]] };
  const connection = { client: { pipeline: () => pipeline } };
  expect(await countReplicas(connection as unknown as RedisConnection, 'gw:{a}:acct_1')).toBe(0);
});
