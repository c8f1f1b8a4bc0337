import { SWEEP_START, sweep } from '../../src/quota/sweep.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';

/** Ends all holds of a bucket whose lease has run out; answers how many. */
export async function sweepBucket(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
): Promise<number> {
  let swept = 0;
  let cursor = SWEEP_START;
  do {
    const reply = await sweep(connection, bucket, cursor);
    swept += reply.swept;
    cursor = reply.cursor;
  } while (cursor !== SWEEP_START);
  return swept;
}
