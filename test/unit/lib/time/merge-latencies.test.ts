import { expect, it } from 'vitest';
import { createLatencyHistogram } from '../../../../src/lib/time/latency-histogram.ts';
import { mergeLatencies } from '../../../../src/lib/time/merge-latencies.ts';

const bucketsOf = (timesMs: readonly number[]) => {
  const histogram = createLatencyHistogram();
  for (const timeMs of timesMs) histogram.add(timeMs);
  return histogram.buckets();
};

it('quantiles of several histograms are those of all times together', () => {
  const odd = Array.from({ length: 50 }, (_, index) => index * 2 + 1);
  const even = odd.map((timeMs) => timeMs + 1);
  const merged = mergeLatencies([...bucketsOf(odd), ...bucketsOf(even)]);
  const together = createLatencyHistogram();
  for (const timeMs of [...odd, ...even]) together.add(timeMs);
  expect(merged?.p50).toBe(together.quantileMs(0.5));
  expect(merged?.p90).toBe(together.quantileMs(0.9));
  expect(merged?.p99).toBe(together.quantileMs(0.99));
});

it('one time is every quantile, and without any there is none', () => {
  expect(mergeLatencies([{ upToMs: 3, count: 1 }])).toEqual({ p50: 3, p90: 3, p99: 3 });
  expect(mergeLatencies([])).toBeUndefined();
});
