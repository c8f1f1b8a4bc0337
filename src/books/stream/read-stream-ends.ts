import { pack } from 'msgpackr';
import { BUCKETS } from '../../keys/bucket-tags.ts';
import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { BUCKETS_AT_ONCE } from './for-each-bucket.ts';
import type { StreamId } from './stream-id.ts';

type Connection = Pick<RedisConnection, 'isCluster' | 'send'>;
/** The id of the last entry of each bucket's ledger; a bucket without entries has none. */
export type StreamEnds = ReadonlyMap<number, StreamId>;

const script = loadLuaScript(new URL('./read-ends.lua', import.meta.url), ['first'], ['others']);

/**
 * Reads how far all ledgers go, many in one call unless they may be on different servers. A
 * failure does not stop the others: returns the first one, and what was found.
 */
export async function readStreamEnds(
  connection: Connection,
): Promise<{ readonly ends: StreamEnds; readonly failure: unknown }> {
  const size = connection.isCluster ? 1 : BUCKETS_AT_ONCE;
  const parts = Array.from({ length: BUCKETS / size }, (_, part) =>
    Array.from({ length: size }, (_, i) => part * size + i),
  );
  const found = await Promise.allSettled(parts.map((part) => readEndsOf(connection, part)));
  const failed = found.find((result) => result.status === 'rejected');
  const ends = found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  return { ends: new Map(ends), failure: failed?.reason };
}

async function readEndsOf(
  connection: Connection,
  buckets: readonly number[],
): Promise<(readonly [bucket: number, last: StreamId])[]> {
  const [first = '', ...others] = buckets.map((bucket) => keysOfBucket(bucket).ledger);
  const ids = (await script.call(connection, { first }, { others: pack(others) })) as string[];
  return buckets.flatMap((bucket, i) => (ids[i] ? [[bucket, ids[i]] as const] : []));
}
