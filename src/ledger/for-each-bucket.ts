import { BUCKETS } from '../keys/bucket-tags.ts';

/** Enough to fill the connection; more would only wait in it. */
export const BUCKETS_AT_ONCE = 16;

interface Walk {
  /** The first bucket; after the last comes 0. */
  readonly from: number;
  /** Is asked now and then. */
  readonly isOver: () => boolean;
}

export interface WalkEnd {
  /** Where the next walk would go on; the start again when all buckets were visited. */
  readonly next: number;
  /** The first of all; undefined when there was none. */
  readonly failure: unknown;
}

/**
 * Visits the buckets, some at a time. A failure ends nothing: where one node of a Cluster is away, the buckets
 * of the others go on. All visits have ended when this does.
 */
export async function forEachBucket(
  { from, isOver }: Walk,
  visit: (bucket: number) => Promise<void>,
): Promise<WalkEnd> {
  let failure: unknown;
  let next = from;
  for (let visited = 0; visited < BUCKETS && !isOver(); visited += BUCKETS_AT_ONCE) {
    const first = next;
    const buckets = Array.from({ length: BUCKETS_AT_ONCE }, (_, i) => (first + i) % BUCKETS);
    for (const visitEnd of await Promise.allSettled(buckets.map(visit))) {
      if (visitEnd.status === 'rejected') failure ??= visitEnd.reason;
    }
    next = (first + BUCKETS_AT_ONCE) % BUCKETS;
  }
  return { next, failure };
}
