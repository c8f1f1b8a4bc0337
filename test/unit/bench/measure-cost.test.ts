import { expect, it } from 'vitest';
import { measureCost } from '../../../bench/soak/measure-cost.ts';
import type { Sample } from '../../../bench/soak/take-sample.ts';

function sampleOf(
  atSeconds: number,
  requests: number,
  microsOf: Readonly<Record<string, number>>,
): Sample {
  return {
    atSeconds,
    outcomes: { ok: requests - 1, rate: 1 },
    processes: Object.entries(microsOf).map(([name, micros], index) => ({
      ...{ name, pid: 10 * index + name.length, rssBytes: 0, openFiles: 1 },
      cpuNanos: micros * 1_000,
    })),
    ...{ lagP99Seconds: null, holds: 0, settleQueue: 0, journal: 0, lostSettlements: 0 },
    redisBytes: 0,
  };
}

it('the cost of a request is what the workers took meanwhile, in each part of the run', () => {
  const samples = Array.from({ length: 12 }, (_, index) =>
    sampleOf(5 * index, 100, {
      'a worker 1': 30_000 * index,
      'b worker 2': 10_000 * index + (index > 5 ? 10_000 * (index - 5) : 0),
      'a primary': 1_000_000 * index,
    }),
  );
  const cost = measureCost(samples);
  expect(cost.map(({ untilSeconds }) => untilSeconds)).toEqual([5, 15, 25, 35, 45, 55]);
  expect(cost.map(({ requests }) => requests)).toEqual([100, 200, 200, 200, 200, 200]);
  expect(cost.map(({ workerMicros }) => workerMicros)).toEqual([400, 400, 400, 500, 500, 500]);
});

it('the cost of a request leaves out workers that began or ended between two samples', () => {
  const samples = [
    sampleOf(0, 100, { 'a worker 1': 0 }),
    sampleOf(5, 100, { 'a worker 1': 20_000, 'a worker 22': 90_000 }),
    sampleOf(10, 100, { 'a worker 1': 40_000 }),
  ];
  const cost = measureCost(samples);
  expect(cost.map(({ workerMicros }) => workerMicros)).toEqual([200, 200]);
});
