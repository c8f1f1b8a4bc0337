import { describe, expect, it } from 'vitest';
import { quantileOf, rateOf, sumOf } from '../../../src/top/measure.ts';
import { parseMetrics } from '../../../src/top/parse-metrics.ts';

const interval = (before: string, after: string, seconds = 2) => ({
  before: parseMetrics(before),
  after: parseMetrics(after),
  seconds,
});

/** Takes the count of each bucket alone. The count above all bounds comes last. */
function histogram(counts: Readonly<Record<string, number>>, more = ''): string {
  let sum = 0;
  return Object.entries(counts)
    .map(([le, count]) => {
      sum += count;
      return `h_bucket{le="${le}"${more}} ${sum}`;
    })
    .join('\n');
}

describe('a sum', () => {
  it('is over the series that are wanted, and unknown without any', () => {
    const page = parseMetrics('a{x="1"} 1\na{x="2"} 2\n');
    expect(sumOf(page, 'a')).toBe(3);
    expect(sumOf(page, 'a', (labels) => labels.get('x') === '2')).toBe(2);
    expect(sumOf(page, 'a', () => false)).toBeUndefined();
    expect(sumOf(page, 'b')).toBeUndefined();
    expect(sumOf(undefined, 'a')).toBeUndefined();
  });
});

describe('a rate', () => {
  it('is what was counted in a second, in new series too', () => {
    expect(rateOf(interval('c{x="1"} 10', 'c{x="1"} 14\nc{x="2"} 2'), 'c')).toBe(3);
  });

  it('is 0 when nothing that is wanted was ever counted', () => {
    const isFailed = () => false;
    expect(rateOf(interval('c{x="1"} 10', 'c{x="1"} 14'), 'c', isFailed)).toBe(0);
  });

  it('is unknown after a restart, without two pages, and without the metric', () => {
    expect(rateOf(interval('c 10', 'c 4'), 'c')).toBeUndefined();
    expect(rateOf({ ...interval('', 'c 4'), before: undefined }, 'c')).toBeUndefined();
    expect(rateOf(interval('', ''), 'c')).toBeUndefined();
    expect(rateOf(interval('c 1', 'c 2', 0), 'c')).toBeUndefined();
  });
});

describe('a quantile', () => {
  const none = histogram({ 1: 0, 2: 0, 4: 0, '+Inf': 0 });

  it('is linear inside its bucket', () => {
    const measured = interval(none, histogram({ 1: 0, 2: 10, 4: 10, '+Inf': 0 }));
    expect(quantileOf(measured, 'h', 0.25)).toBe(1.5);
    expect(quantileOf(measured, 'h', 0.5)).toBe(2);
    expect(quantileOf(measured, 'h', 0.75)).toBe(3);
    expect(quantileOf(measured, 'h', 1)).toBe(4);
  });

  it('is of what came in between alone', () => {
    const before = histogram({ 1: 1_000, 2: 0, 4: 0, '+Inf': 0 });
    const after = histogram({ 1: 1_000, 2: 0, 4: 4, '+Inf': 0 });
    expect(quantileOf(interval(before, after), 'h', 0.5)).toBe(3);
    expect(quantileOf(interval(after, after), 'h', 0.5)).toBeUndefined();
  });

  it('adds up the series that are wanted', () => {
    const after = [
      histogram({ 1: 4, 2: 0, '+Inf': 0 }, ',x="1"'),
      histogram({ 1: 0, 2: 4, '+Inf': 0 }, ',x="2"'),
    ].join('\n');
    const measured = interval('', after);
    expect(quantileOf(measured, 'h', 0.75)).toBe(1.5);
    expect(quantileOf(measured, 'h', 0.5, (labels) => labels.get('x') === '2')).toBe(1.5);
    expect(quantileOf(measured, 'h', 0.5, (labels) => labels.get('x') === '1')).toBe(0.5);
  });

  it('is the last bound when it lies above, and unknown without a histogram', () => {
    expect(quantileOf(interval(none, histogram({ 1: 1, 2: 0, 4: 0, '+Inf': 9 })), 'h', 0.5)).toBe(
      4,
    );
    expect(quantileOf(interval('', ''), 'h', 0.5)).toBeUndefined();
    expect(quantileOf(interval('', 'h_bucket{le="1"} 5'), 'h', 0.5)).toBeUndefined();
  });
});
