import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import { connectRedis, type RedisConnection } from '../redis/connect-redis.ts';
import { probeRedis } from '../redis/probe-redis.ts';

const COMMAND_TIMEOUT_MS = 5_000;
const ATTEMPTS_MAX = 50;
const RETRY_DELAY_MS = 100;

/** For a command that somebody waits for: throws when Redis does not answer within some seconds. */
export async function connectLedger(target: RedisTarget, log: Log): Promise<RedisConnection> {
  const connection = connectRedis({
    target,
    name: 'ledger-command',
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    log,
  });
  for (let attempt = 1; ; attempt++) {
    try {
      await probeRedis(connection, attempt);
      return connection;
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX) {
        await connection.close();
        throw new Error(`Redis does not answer: ${(error as Error).message}`, { cause: error });
      }
      await sleep(RETRY_DELAY_MS);
    }
  }
}
