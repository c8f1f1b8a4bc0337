import { createBucketedIds } from './bucketed-ids.ts';

/** A group is in the bucket of its account. */
const ids = createBucketedIds('grp_');
export const mintGroupId = ids.mint;
export const bucketOfGroup = ids.bucketOf;
