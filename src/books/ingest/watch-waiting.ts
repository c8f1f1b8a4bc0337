import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { forEachBucket } from '../stream/for-each-bucket.ts';

export interface WaitingWatch {
  /** The entries that Redis has; undefined before the first count. */
  waitingEntries(): number | undefined;
  stop(): void;
}

/**
 * Counts the entries of all streams again and again. A count that fails is left out: the last one
 * stays.
 */
export function watchWaiting(
  connection: Pick<RedisConnection, 'send'>,
  everyMs: number,
): WaitingWatch {
  let counted: number | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  const count = async () => {
    let entries = 0;
    const { failure } = await forEachBucket(
      () => isStopped,
      async (bucket) => {
        const length = await connection.send('xlen', [keysOfBucket(bucket).ledger]);
        entries += Number(length);
      },
    );
    if (isStopped) return;
    if (failure === undefined) counted = entries;
    timer = setTimeout(count, everyMs);
    timer.unref();
  };
  void count();

  return {
    waitingEntries: () => counted,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
