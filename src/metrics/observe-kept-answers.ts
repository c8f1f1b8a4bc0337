import type { KEPT_OUTCOMES } from './label-sets.ts';
import type { ProcessMetrics } from './process-metrics.ts';

type Outcome = (typeof KEPT_OUTCOMES)[number];

/**
 * Counts what becomes of answers that clients want to be kept. Returns a function that says whether
 * the answer is kept. A bucket where nothing was kept for `ttlMs` has nothing left.
 */
export function watchKeptAnswers(
  metrics: ProcessMetrics,
  ttlMs: number,
  nowMs: () => number,
): (outcome: Outcome, bucket?: number, bucketBytes?: number) => boolean {
  const buckets = new Map<number, { readonly bytes: number; readonly seenMs: number }>();
  metrics.keptBytes.watch((set) => {
    const recent = [...buckets.values()].filter(({ seenMs }) => nowMs() - seenMs < ttlMs);
    set(
      {},
      recent.reduce((sum, { bytes }) => sum + bytes, 0),
    );
  });
  return (outcome, bucket, bytes) => {
    metrics.answersKept.at({ outcome }).add(1);
    if (bucket !== undefined && bytes !== undefined)
      buckets.set(bucket, { bytes, seenMs: nowMs() });
    return outcome === 'kept';
  };
}
