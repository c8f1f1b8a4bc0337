import type { Config } from '../../config/config.ts';
import { type RedisTarget, unixRedisTarget } from '../../lib/address/redis-target.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { askSocket } from '../../redis/server/ask-socket.ts';
import { findRedisServer } from '../../redis/server/find-redis-server.ts';
import { redisSocketPath } from '../../redis/server/redis-socket-path.ts';
import { CHECKS, type CheckName } from '../checks.ts';
import { type Finding, failCheck, passCheck, skipCheck } from '../finding.ts';
import { type Check, type CheckResult, runCheck } from '../run-check.ts';
import { openStore } from './open-store.ts';
import { createStoreChecks } from './store-checks.ts';

const SOCKET_TIMEOUT_MS = 2_000;

/** Checks the Redis of the settings, or the embedded one if it runs. */
export async function checkStore(
  { redis, dataDir }: Pick<Config, 'redis' | 'dataDir'>,
  clock: Clock,
): Promise<CheckResult[]> {
  const target = await findStoreTarget({ redis, dataDir });
  if (target === undefined) {
    return await Promise.all(storeNames().map((name) => runCheck(createRestingCheck(name))));
  }
  const isEmbedded = redis === 'embedded';
  const opening = openStore(target);
  const checks = createStoreChecks({ target, isEmbedded, opening, clock });
  try {
    return await Promise.all(checks.map(runCheck));
  } finally {
    const store = await opening.catch(() => undefined);
    await store?.close();
  }
}

/** Undefined while the node's own Redis does not run. */
export async function findStoreTarget({
  redis,
  dataDir,
}: Pick<Config, 'redis' | 'dataDir'>): Promise<RedisTarget | undefined> {
  if (redis !== 'embedded') return redis;
  const socketPath = redisSocketPath(dataDir);
  const { kind } = await askSocket(socketPath, 'PING', SOCKET_TIMEOUT_MS);
  return kind === 'absent' ? undefined : unixRedisTarget(socketPath);
}

function storeNames(): CheckName[] {
  return (Object.keys(CHECKS) as CheckName[]).filter((name) => name.startsWith('redis-'));
}

function createRestingCheck(name: CheckName): Check {
  return name === 'redis-version'
    ? { name, run: checkInstalled }
    : { name, run: () => skipCheck("the node's own Redis runs only while the node does") };
}

async function checkInstalled(): Promise<Finding> {
  const advice =
    'Start once with --install-redis, or set redis.url to a Redis that runs elsewhere.';
  try {
    const server = await findRedisServer();
    return server === undefined
      ? failCheck('neither redis-server nor valkey-server is installed', advice)
      : passCheck(`${server.binary} ${server.version} is installed`);
  } catch (error) {
    return failCheck((error as Error).message, advice);
  }
}
