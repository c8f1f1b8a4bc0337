import { decodeBase62, encodeBase62, type RandomBytes, randomBase62 } from '../lib/units/base62.ts';
import { BUCKETS } from './bucket-tags.ts';

const BUCKET_CHARS = 2;
const RANDOM_CHARS = 10;

interface BucketedIds {
  mint(bucket: number, randomBytes: RandomBytes): string;
  /** Undefined if this cannot be such an id. */
  bucketOf(id: string): number | undefined;
}

/** Ids with this prefix contain the bucket that their record is in. */
export function createBucketedIds(prefix: string): BucketedIds {
  const pattern = new RegExp(`^${prefix}[0-9A-Za-z]{${BUCKET_CHARS + RANDOM_CHARS}}$`);
  return {
    mint: (bucket, randomBytes) =>
      prefix + encodeBase62(bucket, BUCKET_CHARS) + randomBase62(RANDOM_CHARS, randomBytes),
    bucketOf(id) {
      if (!pattern.test(id)) return undefined;
      const bucket = decodeBase62(id.slice(prefix.length, prefix.length + BUCKET_CHARS));
      return bucket < BUCKETS ? bucket : undefined;
    },
  };
}
