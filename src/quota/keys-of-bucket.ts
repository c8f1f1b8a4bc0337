import { tagOfBucket } from '../keys/bucket-tags.ts';
import { type BucketKeys, bucketKeys } from '../redis/redis-keys.ts';

const known = new Map<number, BucketKeys>();

/** The Redis keys of a bucket. They are cached because every call of a script asks for them. */
export function keysOfBucket(bucket: number): BucketKeys {
  const existing = known.get(bucket);
  if (existing !== undefined) return existing;
  const keys = bucketKeys(tagOfBucket(bucket));
  known.set(bucket, keys);
  return keys;
}
