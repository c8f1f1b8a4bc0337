import { decodeBase62, encodeBase62, type RandomBytes, randomBase62 } from '../lib/units/base62.ts';
import { BUCKETS } from './bucket-tags.ts';

const PREFIX = 'acct_';
const BUCKET_CHARS = 2;
const RANDOM_CHARS = 10;
const PATTERN = /^acct_[0-9A-Za-z]{12}$/;

export function mintAccountId(bucket: number, randomBytes: RandomBytes): string {
  return PREFIX + encodeBase62(bucket, BUCKET_CHARS) + randomBase62(RANDOM_CHARS, randomBytes);
}

/** Undefined if this cannot be the id of an account. */
export function bucketOfAccount(id: string): number | undefined {
  if (!PATTERN.test(id)) return undefined;
  const bucket = decodeBase62(id.slice(PREFIX.length, PREFIX.length + BUCKET_CHARS));
  return bucket < BUCKETS ? bucket : undefined;
}
