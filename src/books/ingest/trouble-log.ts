import type { Log } from '../../lib/log.ts';
import { classifyRedisError } from '../../redis/classify-redis-error.ts';

/** The store of a node that has just started is not connected in the first round. */
const REDIS_FAILURES_LOGGED_MIN = 2;
const CANNOT_READ = 'Redis cannot be read into the books';

/** Logs when trouble begins and when it ends, but not in each round. */
export interface TroubleLog {
  /** What keeps this node from writing; undefined while nothing does. */
  current(): string | undefined;
  noteBooks(error: Error): void;
  noteRedis(error: unknown): void;
  noteOtherBooks(ownId: string, usedId: string): void;
  end(message: string): void;
}

export function createTroubleLog(log: Log): TroubleLog {
  let current: string | undefined;
  let redisFailures = 0;

  const begin = (level: 'warn' | 'error', failure: string, fields: object) => {
    if (current !== failure) log[level]({ ...fields }, failure);
    current = failure;
  };

  return {
    current: () => current,
    noteBooks(error) {
      begin('error', 'the database of the books cannot be written', { err: error.cause });
    },
    noteRedis(error) {
      redisFailures++;
      if (redisFailures < REDIS_FAILURES_LOGGED_MIN) return;
      switch (classifyRedisError(error)) {
        case 'outage':
          // The log of the connection says why.
          return begin('warn', 'Redis is out, so the books get no entries', {});
        case 'retryable':
          return begin('warn', CANNOT_READ, { reason: (error as Error).message });
        case 'fault':
          return begin('warn', CANNOT_READ, { err: error });
      }
    },
    noteOtherBooks(ownId, usedId) {
      begin('error', 'these are other books than those of the fleet', { books: ownId, usedId });
    },
    end(message) {
      if (current !== undefined) log.info({}, message);
      current = undefined;
      redisFailures = 0;
    },
  };
}
