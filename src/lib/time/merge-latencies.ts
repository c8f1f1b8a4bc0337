import type { LatencyBucket } from './latency-histogram.ts';

interface LatencyQuantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/**
 * Quantiles over the buckets of several histograms together, in milliseconds. Undefined if all are
 * empty.
 */
export function mergeLatencies(buckets: readonly LatencyBucket[]): LatencyQuantiles | undefined {
  const sorted = buckets.toSorted((one, other) => one.upToMs - other.upToMs);
  const total = sorted.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return undefined;
  const quantile = (share: number) => {
    let left = Math.max(Math.ceil(share * total), 1);
    const bucket = sorted.find(({ count }) => {
      left -= count;
      return left <= 0;
    });
    return bucket?.upToMs ?? 0;
  };
  return { p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99) };
}
