import { assert } from '../lib/assert.ts';
import { crc16 } from './checksum.ts';

/**
 * The number of buckets. Everything that one account needs, its keys and their requests, lives in
 * one bucket, and so on one node of a Redis Cluster: one round trip admits a request. An account
 * never changes its bucket.
 */
export const BUCKETS = 256;

const CLUSTER_SLOTS = 16_384;
const SLOTS_PER_BUCKET = CLUSTER_SLOTS / BUCKETS;

/**
 * The hash tag of each bucket: the first number in base 36 whose slot lies among the bucket's own
 * 64 slots. So buckets spread evenly over any number of nodes. Names such as `b17` would not
 * (83 : 93 on three nodes).
 */
const TAGS: readonly string[] = findTags();

export function tagOfBucket(bucket: number): string {
  const tag = TAGS[bucket];
  assert(tag !== undefined, `${bucket} is a bucket`);
  return tag;
}

function findTags(): string[] {
  const tags = new Array<string>(BUCKETS).fill('');
  for (let number = 0, left = BUCKETS; left > 0; number++) {
    const tag = number.toString(36);
    const bucket = Math.floor((crc16(tag) % CLUSTER_SLOTS) / SLOTS_PER_BUCKET);
    if (tags[bucket] !== '') continue;
    tags[bucket] = tag;
    left--;
  }
  return tags;
}
