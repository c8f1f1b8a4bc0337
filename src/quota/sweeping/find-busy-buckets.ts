import type { RedisConnection } from '../../redis/connect-redis.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';

type Connection = Pick<RedisConnection, 'isCluster' | 'send'>;

/** One command asks about this many buckets. */
const BUCKETS_AT_ONCE = 16;

/**
 * The buckets that may have something to sweep. One command checks many at once, and most are
 * empty on most nodes. In a Cluster these are all buckets: each check would be a command of its
 * own, and the sweep itself costs no more.
 */
export async function findBusyBuckets(
  connection: Connection,
  buckets: readonly number[],
): Promise<readonly number[]> {
  if (connection.isCluster) return buckets;
  const found = await Promise.all(
    splitBuckets(buckets).map(async (part) => {
      const keys = part.flatMap(keysToSweep);
      return Number(await connection.send('exists', keys)) > 0 ? part : [];
    }),
  );
  return found.flat();
}

/** An empty bucket has none of these. */
function keysToSweep(bucket: number): string[] {
  const { leases, renewals, events } = keysOfBucket(bucket);
  return [leases, renewals, events];
}

function splitBuckets(buckets: readonly number[]): number[][] {
  const count = Math.ceil(buckets.length / BUCKETS_AT_ONCE);
  return Array.from({ length: count }, (_, i) =>
    buckets.slice(i * BUCKETS_AT_ONCE, (i + 1) * BUCKETS_AT_ONCE),
  );
}
