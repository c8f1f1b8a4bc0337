import type { LatencyBucket } from '../lib/time/latency-histogram.ts';

/**
 * Between nodes, each doubling of the time has this many buckets, a quarter of those of a worker.
 * So a quantile over all nodes is at most 1/32 too long.
 */
const STEPS_PER_DOUBLING = 32;
const MICROS_PER_MS = 1_000;

/** The longest time in microseconds and the count of each bucket, one after the other. */
export function packLatencies(buckets: readonly LatencyBucket[]): number[] {
  const counts = new Map<number, number>();
  for (const { upToMs, count } of buckets) {
    const upTo = roundUp(Math.round(upToMs * MICROS_PER_MS));
    counts.set(upTo, (counts.get(upTo) ?? 0) + count);
  }
  return [...counts].toSorted(([one], [other]) => one - other).flat();
}

export function unpackLatencies(packed: readonly number[]): LatencyBucket[] {
  const buckets: LatencyBucket[] = [];
  for (let at = 0; at + 1 < packed.length; at += 2) {
    buckets.push({ upToMs: (packed[at] ?? 0) / MICROS_PER_MS, count: packed[at + 1] ?? 0 });
  }
  return buckets;
}

function roundUp(micros: number): number {
  const doublings = Math.max(0, Math.floor(Math.log2(Math.max(micros, 1) / STEPS_PER_DOUBLING)));
  const width = 2 ** doublings;
  return Math.ceil(micros / width) * width;
}
