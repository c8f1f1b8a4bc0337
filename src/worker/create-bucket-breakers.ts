import { BUCKETS } from '../keys/bucket-tags.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Breaker } from '../redis/breaker.ts';

/**
 * Each part has 16 buckets. Their slots are neighbours, as are the slots of one node of the
 * cluster.
 */
const CLUSTER_PARTS = 16;

/**
 * Finds the breaker of a bucket. If one node of a Redis Cluster is out, the buckets of the others
 * must stay usable.
 */
export function createBucketBreakers(
  { topology }: RedisTarget,
  single: Breaker,
  create: () => Breaker,
): (bucket: number) => Breaker {
  if (topology !== 'cluster') return () => single;
  const parts = Array.from({ length: CLUSTER_PARTS }, create);
  return (bucket) => parts[Math.floor((bucket * CLUSTER_PARTS) / BUCKETS)] ?? single;
}
