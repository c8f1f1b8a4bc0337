import { randomBytes } from 'node:crypto';
import { type CountReplicas, createCountReplicas } from '../../src/accounts/count-replicas.ts';
import { createDirectory, type Directory } from '../../src/accounts/directory.ts';
import { parseApiKey } from '../../src/keys/api-key.ts';
import { digestKey } from '../../src/keys/digest-key.ts';
import type { RedisTarget } from '../../src/lib/address/redis-target.ts';
import type { Clock } from '../../src/lib/time/clock.ts';
import { identify } from '../../src/quota/scripts/identify.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';
import { DEFAULT_WARNINGS } from '../support/limits/default-warnings.ts';
import { openConnection, waitForRedis } from '../support/servers/redis-connection.ts';

export const systemClock: Clock = { nowMs: () => Date.now() };

export interface TestDirectory extends Directory {
  readonly connection: RedisConnection;
  readonly countReplicas: CountReplicas;
  /** The gateway's decision for a client with this key. */
  check(key: string): Promise<string>;
}

/** A directory on its own connection. Every test file ends with `closeConnections`. */
export async function openDirectory(
  target: RedisTarget,
  clock: Clock = systemClock,
  masterClock = clock,
): Promise<TestDirectory> {
  const connection = openConnection(target);
  await waitForRedis(connection);
  const countReplicas = createCountReplicas(openConnection(target));
  const directory = createDirectory({
    ...{ connection, countReplicas, randomBytes, clock, masterClock, digestKey },
    warnings: () => DEFAULT_WARNINGS,
  });
  return {
    ...directory,
    ...{ connection, countReplicas },
    async check(key) {
      const parsed = parseApiKey(key);
      if (parsed === undefined) return 'malformed';
      return (await identify(connection, { ...parsed, digest: digestKey(key) })).kind;
    },
  };
}

/** All data in a server. */
export async function dumpRedis({ connection }: TestDirectory): Promise<Record<string, unknown>> {
  const dump: Record<string, unknown> = {};
  for (const key of ((await connection.send('keys', ['gw:*'])) as string[]).sort()) {
    const type = await connection.send('type', [key]);
    if (type === 'hash') dump[key] = await connection.send('hgetall', [key]);
    else if (type === 'set') dump[key] = ((await connection.send('smembers', [key])) as []).sort();
    else if (type === 'stream') dump[key] = await connection.send('xlen', [key]);
    else dump[key] = type;
  }
  return dump;
}
