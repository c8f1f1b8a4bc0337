import { BUCKETS } from '../keys/bucket-tags.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Breaker } from '../redis/breaker.ts';

/** Of 16 buckets each, whose slots lie side by side, as those of a node do. */
const CLUSTER_PARTS = 16;

/** The breaker of a bucket. A node of a Cluster that is out must not shut the buckets of the others. */
export function createBucketBreakers(
  { topology }: RedisTarget,
  single: Breaker,
  create: () => Breaker,
): (bucket: number) => Breaker {
  if (topology !== 'cluster') return () => single;
  const parts = Array.from({ length: CLUSTER_PARTS }, create);
  return (bucket) => parts[Math.floor((bucket * CLUSTER_PARTS) / BUCKETS)] ?? single;
}
