import { keysOfBucket } from '../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import type { StreamFields } from './ledger-entry.ts';
import type { StreamId } from './stream-id.ts';

/**
 * Bounds one reply of Redis. While Redis sends it and its reader reads it, neither serves anything
 * else.
 */
export const STREAM_PAGE_MAX = 128;

export interface StreamEntry {
  readonly id: StreamId;
  readonly fields: StreamFields;
}

interface StreamRange {
  /** The first entry is the next one after this. */
  readonly after: StreamId;
  /** The last one; of milliseconds alone, the last in that millisecond. */
  readonly until: StreamId;
}

/** The next entries of a bucket's ledger, `STREAM_PAGE_MAX` unless there are no more of them. */
export async function readStreamPage(
  { client }: Pick<RedisConnection, 'client'>,
  bucket: number,
  { after, until }: StreamRange,
): Promise<readonly StreamEntry[]> {
  const { ledger } = keysOfBucket(bucket);
  const count = String(STREAM_PAGE_MAX);
  // As bytes: the usage is packed.
  const reply = await client.callBuffer('xrange', ledger, `(${after}`, until, 'COUNT', count);
  return (reply as [Buffer, Buffer[]][]).map(([id, fields]) => ({ id: String(id), fields }));
}
