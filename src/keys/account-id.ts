import { createBucketedIds } from './bucketed-ids.ts';

/** `bucketOf` is undefined if this cannot be the id of an account. */
const ids = createBucketedIds('acct_');
export const mintAccountId = ids.mint;
export const bucketOfAccount = ids.bucketOf;
