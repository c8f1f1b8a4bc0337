import { setTimeout as sleep } from 'node:timers/promises';
import { BUCKETS } from '../../keys/bucket-tags.ts';
import { BUCKETS_AT_ONCE } from './for-each-bucket.ts';

/** What is read at once takes a core for a millisecond or two, which a worker may want as well. */
const PORTION_ENTRIES_MAX = 128;
/** Less is not worth a rest. */
const PORTION_ENTRIES_MIN = 64;
/** At the start of a round, before it is known how much there is. */
const FIRST_BUCKETS_AT_ONCE = 4;
/** Between two portions, when a small machine serves its requests. */
const REST_MS = 5;

interface Round {
  /** The first bucket. */
  readonly from: number;
  /** All rests together take at most this long; a reader that is further behind takes none. */
  readonly restMaxMs: number;
  /** Whether no further page is wanted. */
  readonly isOver: () => boolean;
}

interface RoundEnd {
  /** Where the next round begins; after the last bucket comes 0. */
  readonly next: number;
  /** Every bucket that answered was read to its end. */
  readonly isComplete: boolean;
  /** The first failure; undefined when there was none. */
  readonly failure: unknown;
}

export interface ReadPage {
  readonly entries: number;
  /** The bucket has no more. */
  readonly isLast: boolean;
}

/**
 * Reads all buckets to their ends, in portions of equal size: many buckets at once if each has
 * little. A failure ends only its bucket: if one node of a Cluster is away, the buckets of the
 * others are still read.
 *
 *   waiting ──first ones──▶ reading a page of each ──last page, or failed──▶ done
 *      ▲                        └── more to come ──┐
 *      └──────────────── rest ◀────────────────────┘
 */
export async function gatherBuckets(
  { from, restMaxMs, isOver }: Round,
  readPage: (bucket: number) => Promise<ReadPage>,
): Promise<RoundEnd> {
  const waiting = Array.from({ length: BUCKETS }, (_, i) => (from + i) % BUCKETS);
  let failure: unknown;
  let atOnce = FIRST_BUCKETS_AT_ONCE;
  let restLeftMs = restMaxMs;
  let entriesSinceRest = 0;
  while (waiting.length > 0 && !isOver()) {
    const buckets = waiting.splice(0, atOnce);
    const unfinished: number[] = [];
    let entries = 0;
    const readEnds = await Promise.allSettled(buckets.map(readPage));
    for (const [i, readEnd] of readEnds.entries()) {
      if (readEnd.status === 'rejected') {
        failure ??= readEnd.reason;
        continue;
      }
      entries += readEnd.value.entries;
      const bucket = buckets[i];
      if (!readEnd.value.isLast && bucket !== undefined) unfinished.push(bucket);
    }
    waiting.push(...unfinished);
    atOnce = adaptToPortion(atOnce, entries);
    entriesSinceRest += entries;
    const isRestDue = entriesSinceRest >= PORTION_ENTRIES_MIN && restLeftMs >= REST_MS;
    if (!isRestDue || waiting.length === 0 || isOver()) continue;
    await sleep(REST_MS);
    restLeftMs -= REST_MS;
    entriesSinceRest = 0;
  }
  return { next: waiting[0] ?? from, isComplete: waiting.length === 0, failure };
}

function adaptToPortion(atOnce: number, entries: number): number {
  if (entries > PORTION_ENTRIES_MAX) return Math.max(1, Math.floor(atOnce / 2));
  if (entries < PORTION_ENTRIES_MIN) return Math.min(BUCKETS_AT_ONCE, atOnce * 2);
  return atOnce;
}
