import { expect, it } from 'vitest';
import { measureGrowth } from '../../../bench/soak/measure-growth.ts';
import type { Sample } from '../../../bench/soak/take-sample.ts';

const MIB = 1_048_576;

function sampleOf(atSeconds: number, mibOf: Readonly<Record<number, number>>): Sample {
  return {
    atSeconds,
    outcomes: {},
    processes: Object.entries(mibOf).map(([pid, mib]) => ({
      ...{
        name: `worker ${pid}`,
        pid: Number(pid),
        rssBytes: mib * MIB,
        openFiles: 1,
        cpuNanos: 0,
      },
    })),
    ...{ lagP99Seconds: null, holds: 0, settleQueue: 0, journal: 0, lostSettlements: 0 },
    redisBytes: 0,
  };
}

it('the growth of a process is that of the second half, by least squares', () => {
  const samples = [
    sampleOf(0, { 1: 10, 2: 50 }),
    sampleOf(3_600, { 1: 400, 2: 50 }),
    sampleOf(7_200, { 1: 100, 2: 50, 3: 9 }),
    sampleOf(10_800, { 1: 106, 3: 7 }),
    sampleOf(14_400, { 1: 103, 3: 5 }),
  ];
  const growth = measureGrowth(samples);
  expect(growth).toMatchObject([
    { pid: 1, samples: 3, lastMib: 103 },
    { pid: 3, samples: 3, lastMib: 5 },
  ]);
  expect(growth[0]?.mibPerHour).toBeCloseTo(1.5);
  expect(growth[1]?.mibPerHour).toBeCloseTo(-2);
});
