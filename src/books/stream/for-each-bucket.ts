import { BUCKETS } from '../../keys/bucket-tags.ts';

/** Enough to fill the connection; more would only wait in it. */
export const BUCKETS_AT_ONCE = 16;

/**
 * Visits the buckets, some at a time, until `isOver`, which is asked now and then. A failure does
 * not stop the others: if one node of a Cluster is away, the buckets of the others are still
 * visited. Returns the first failure when all visits have ended.
 */
export async function forEachBucket(
  isOver: () => boolean,
  visit: (bucket: number) => Promise<void>,
): Promise<{ readonly failure: unknown }> {
  let failure: unknown;
  for (let first = 0; first < BUCKETS && !isOver(); first += BUCKETS_AT_ONCE) {
    const buckets = Array.from({ length: BUCKETS_AT_ONCE }, (_, i) => first + i);
    for (const visitEnd of await Promise.allSettled(buckets.map(visit))) {
      if (visitEnd.status === 'rejected') failure ??= visitEnd.reason;
    }
  }
  return { failure };
}
