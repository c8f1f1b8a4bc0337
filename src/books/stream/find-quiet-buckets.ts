import { pack } from 'msgpackr';
import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { BUCKETS_AT_ONCE } from './for-each-bucket.ts';
import { compareStreamIds, type StreamId } from './stream-id.ts';

type Connection = Pick<RedisConnection, 'isCluster' | 'send'>;

const script = loadLuaScript(
  new URL('./read-ends.lua', import.meta.url),
  ['first'],
  ['others'],
);

/**
 * The buckets that have no entry behind the one that was read last: one call tells that of many at
 * once, and most buckets are quiet on most nodes. In a Cluster it names none: each would take a
 * call of its own, and reading a page costs no more.
 */
export async function findQuietBuckets(
  connection: Connection,
  read: ReadonlyMap<number, StreamId>,
): Promise<ReadonlySet<number>> {
  if (connection.isCluster) return new Set();
  const places = [...read];
  const count = Math.ceil(places.length / BUCKETS_AT_ONCE);
  const parts = Array.from({ length: count }, (_, i) =>
    places.slice(i * BUCKETS_AT_ONCE, (i + 1) * BUCKETS_AT_ONCE),
  );
  const quiet = await Promise.all(parts.map((part) => findQuietOf(connection, part)));
  return new Set(quiet.flat());
}

async function findQuietOf(
  connection: Connection,
  places: readonly (readonly [bucket: number, read: StreamId])[],
): Promise<number[]> {
  const [first = '', ...others] = places.map(([bucket]) => keysOfBucket(bucket).ledger);
  const lastIds = (await script.call(connection, { first }, { others: pack(others) })) as string[];
  const isQuiet = (read: StreamId, last = '') => last === '' || compareStreamIds(last, read) <= 0;
  return places.flatMap(([bucket, read], i) => (isQuiet(read, lastIds[i]) ? [bucket] : []));
}
