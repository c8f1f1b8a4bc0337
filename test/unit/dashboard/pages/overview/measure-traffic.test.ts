import { describe, expect, it } from 'vitest';
import {
  countRefusals,
  measureTraffic,
} from '../../../../../src/dashboard/pages/overview/measure-traffic.ts';
import type { Sample } from '../../../../../src/dashboard/sample.ts';

const sample = (second: number, more: Partial<Sample> = {}): Sample => ({
  ...{ atMs: second * 1_000, seconds: 1, requests: 1, refused: 0, refusals: {}, streams: 0 },
  ...{ nodes: 1, credits: 1, open: 0, latency_ms: null, first_event_ms: null },
  ...more,
});

describe('the lines of the overview', () => {
  it('are broken where the connection was', () => {
    const { times, requests } = measureTraffic([sample(1), sample(2), sample(10), sample(11)]);
    expect(times).toEqual([1, 2, 3, 10, 11]);
    expect(requests).toEqual([1, 1, null, 1, 1]);
  });

  it('have rates a second, whatever time a count is about', () => {
    const row = (second: number) => sample(second, { seconds: 10, requests: 30, credits: 20 });
    const { times, requests, creditsPerMinute } = measureTraffic([row(10), row(20), sample(36)]);
    expect(times).toEqual([10, 20, 36]);
    expect(requests).toEqual([3, 3, 1]);
    expect(creditsPerMinute.slice(0, 2)).toEqual([120, 120]);
    const gap = measureTraffic([row(10), row(40)]);
    expect(gap.requests).toEqual([3, null, 3]);
  });

  it('have no latency where there was no request', () => {
    const latency = { p50: 1, p90: 2, p99: 3 };
    const lines = measureTraffic([sample(1), sample(2, { latency_ms: latency })]);
    expect([lines.p50, lines.p90, lines.p99, lines.firstP50]).toEqual([
      ...[
        [null, 1],
        [null, 2],
        [null, 3],
        [null, null],
      ],
    ]);
  });

  it('have the same credits a minute from the first figure on, where the same is spent each second', () => {
    const seconds = Array.from({ length: 100 }, (_, second) => sample(second));
    const { creditsPerMinute } = measureTraffic(seconds);
    expect(creditsPerMinute).toEqual([...Array(9).fill(null), ...Array(91).fill(60)]);
  });

  it('have the credits of the last minute alone, and of what was seen of it', () => {
    const spent = (second: number) => ({ credits: second < 30 ? 1 : 0 });
    const seconds = Array.from({ length: 100 }, (_, second) => sample(second, spent(second)));
    const { creditsPerMinute } = measureTraffic(seconds);
    expect([29, 59, 60, 88, 89].map((second) => creditsPerMinute[second])).toEqual([
      ...[60, 30, 29, 1, 0],
    ]);
    // The connection was lost for a while: that part of the minute is unknown.
    const late = seconds.filter((_, second) => second < 20 || second >= 50).slice(0, 30);
    const lines = measureTraffic(late);
    expect(lines.creditsPerMinute.at(-1)).toBe((20 / 30) * 60);
    // Many seconds may arrive at once.
    const burst = Array.from({ length: 70 }, () => sample(5));
    expect(measureTraffic(burst).creditsPerMinute.at(-1)).toBe(60);
  });
});

it('refusals are counted by reason, the most frequent first', () => {
  const samples = [
    sample(1, { refusals: { rate_limited: 1, unknown_model: 1 } }),
    sample(2, { refusals: { rate_limited: 2 } }),
  ];
  expect(countRefusals(samples)).toEqual([
    { name: 'rate_limited', count: 3 },
    { name: 'unknown_model', count: 1 },
  ]);
  expect(countRefusals([])).toEqual([]);
});
