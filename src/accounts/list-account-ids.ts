import { bucketOfAccount } from '../keys/account-id.ts';
import { BUCKETS } from '../keys/bucket-tags.ts';
import { keysOfBucket } from '../quota/keys-of-bucket.ts';
import { DirectoryError } from './directory-error.ts';
import { type RecordStore, readEach } from './record-store.ts';

const BUCKETS_AT_ONCE = 32;

/**
 * The first ids after the given one. An id begins with its bucket, so the order of the ids is that
 * of the buckets.
 */
export async function listAccountIds(
  store: RecordStore,
  after: string | undefined,
  countMax: number,
): Promise<readonly string[]> {
  const first = after === undefined ? 0 : bucketOfAccount(after);
  if (first === undefined) {
    throw new DirectoryError('invalid_cursor', `${after} is not the id of an account`);
  }
  let ids: readonly string[] = [];
  for (let start = first; start < BUCKETS && ids.length < countMax; start += BUCKETS_AT_ONCE) {
    const buckets = Array.from({ length: BUCKETS_AT_ONCE }, (_, index) => start + index);
    const sets = await readEach(
      buckets.filter((bucket) => bucket < BUCKETS),
      (bucket) => store.readSet(keysOfBucket(bucket).accounts),
    );
    const found = sets.flatMap((set) => set.filter((id) => after === undefined || id > after));
    ids = [...ids, ...found.sort()];
  }
  return ids.slice(0, countMax);
}
