import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLatencyHistogram } from '../../../../src/lib/time/latency-histogram.ts';

const ERROR_MAX = 0.01;
const HOUR_MICROS = 3_600_000_000;

function histogramOf(micros: readonly number[]) {
  const histogram = createLatencyHistogram();
  for (const time of micros) histogram.add(time / 1_000);
  return histogram;
}

/** As many short times as long times. */
const times = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: HOUR_MICROS })),
  { minLength: 1, maxLength: 300 },
);

describe('a latency histogram', () => {
  it('tells quantiles as a sorted list would, at most 1 % more', () => {
    fc.assert(
      fc.property(times, fc.double({ min: 0, max: 1, noNaN: true }), (micros, share) => {
        const sorted = [...micros].sort((a, b) => a - b);
        const exact = (sorted[Math.max(Math.ceil(share * sorted.length), 1) - 1] ?? 0) / 1_000;
        const told = histogramOf(micros).quantileMs(share);
        // Thousandths are not exact as doubles.
        expect(told).toBeGreaterThanOrEqual(exact - 1e-6);
        expect(told).toBeLessThanOrEqual(exact * (1 + ERROR_MAX) + 1e-6);
      }),
    );
  });

  it('puts every time into one bucket, whose end is at most 1 % above it', () => {
    fc.assert(
      fc.property(times, (micros) => {
        const buckets = histogramOf(micros).buckets();
        const ends = buckets.map(({ upToMs }) => upToMs * 1_000);
        expect(ends).toEqual([...ends].sort((a, b) => a - b));
        const counts = new Map<number, number>();
        for (const time of micros) {
          const end = ends.find((candidate) => candidate >= time - 1e-3) ?? Number.NaN;
          expect(end).toBeLessThanOrEqual(time * (1 + ERROR_MAX) + 1e-3);
          counts.set(end, (counts.get(end) ?? 0) + 1);
        }
        expect(buckets.map(({ count }) => count)).toEqual(ends.map((end) => counts.get(end)));
      }),
    );
  });

  it('is exact below 128 microseconds and for the longest time', () => {
    const histogram = histogramOf([127, 3, 3, 1_234_567]);
    expect(histogram.buckets().slice(0, 2)).toEqual([
      { upToMs: 0.003, count: 2 },
      { upToMs: 0.127, count: 1 },
    ]);
    expect([histogram.maxMs, histogram.quantileMs(1)]).toEqual([1_234.567, 1_234.567]);
  });

  it('rounds up to whole microseconds, takes what is negative for none and more than an hour for the longest', () => {
    const histogram = createLatencyHistogram();
    for (const ms of [-1, 0.0001, 1e12]) histogram.add(ms);
    expect(histogram.buckets().map(({ upToMs }) => upToMs)).toEqual([0, 0.001, 4_294_967.295]);
    expect(histogram.count).toBe(3);
  });

  it('tells 0 when nothing was added', () => {
    const histogram = createLatencyHistogram();
    expect([histogram.quantileMs(0.5), histogram.maxMs, histogram.buckets()]).toEqual([0, 0, []]);
  });
});
