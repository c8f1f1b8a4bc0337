import { describe, expect, it } from 'vitest';
import { listProcessTree, readCpuNanos } from '../../bench/compare/figures/cpu-times.ts';
import type { Round } from '../../bench/compare/figures/round.ts';
import { sumUpRounds } from '../../bench/compare/figures/sum-up-rounds.ts';
import { createDelayCounter } from '../../bench/compare/generators/create-delay-counter.ts';
import { describeResult } from '../../bench/compare/report/describe-result.ts';
import { runStage } from '../../bench/compare/run-stage.ts';
import { WHOLE_ANSWER } from '../../bench/compare/scenario.ts';
import { bodies } from '../../bench/compare/scenarios/bodies.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const roundOf = (cpuMicros: number, isNoisy = false): Round => ({
  ...{ units: 10, failures: 1, seconds: 1, unitsPerSecond: 10, busyShare: 1, residentMb: 1 },
  ...{ cpuMicros, isNoisy, generator: 'wrk', foreignCores: 0 },
  ...{ sideMicros: {}, latencyMs: { p50: cpuMicros }, details: {} },
});

describe('rounds', () => {
  it('come to their median and their spread', () => {
    const { cpuMicros, latencyMs, failures } = sumUpRounds([3, 1, 8, 2].map((us) => roundOf(us)));
    expect(cpuMicros).toEqual({ median: 2.5, min: 1, max: 8 });
    expect(latencyMs['p50']).toEqual(cpuMicros);
    expect(failures).toBe(4);
  });

  it('are left out when others used the machine and two more are clean', () => {
    const { cpuMicros, roundsUsed, rounds } = sumUpRounds([
      roundOf(9, true),
      roundOf(1),
      roundOf(2),
    ]);
    expect(cpuMicros).toEqual({ median: 1.5, min: 1, max: 2 });
    expect({ roundsUsed, all: rounds.length }).toEqual({ roundsUsed: 2, all: 3 });
  });

  it('are all used when fewer than two are clean', () => {
    expect(sumUpRounds([roundOf(9, true), roundOf(1)]).cpuMicros.max).toBe(9);
  });
});

describe('CPU time', () => {
  it('of a process grows while it works, and is in its tree', async () => {
    const before = readCpuNanos([process.pid]);
    await waitUntil(() => readCpuNanos([process.pid]) > before, 'it has worked');
    expect(listProcessTree(process.ppid)).toContain(process.pid);
  });
});

describe('delays', () => {
  it('come to their percentiles, to 2 per cent', () => {
    const counter = createDelayCounter();
    for (let ms = 1; ms <= 1_000; ms++) counter.count(ms);
    const { p50 = 0, p99 = 0, max } = counter.quantiles();
    for (const ratio of [p50 / 500, p99 / 990]) expect(Math.abs(ratio - 1)).toBeLessThan(0.021);
    expect(max).toBe(1_000);
    counter.clear();
    expect(counter.quantiles()['max']).toBe(0);
  });
});

describe('a contestant that does not start', () => {
  it('has a row of its own, and the reason below', async () => {
    const failing = {
      name: 'broken',
      isPeer: false,
      start: () => Promise.reject(new Error('no port')),
    };
    const turns = { dir: createTempDir(), seconds: 1, warmUpSeconds: 1, rounds: 1, tell: () => {} };
    const cases = (bodies.stages[0]?.cases ?? []).slice(0, 1);
    const results = await runStage({ answer: WHOLE_ANSWER, contestants: [failing], cases }, turns);
    const machine = {
      cpus: 2,
      model: 'x',
      memoryGb: 1,
      kernel: 'x',
      isPinned: true,
      haltPoll: '0',
      versions: {},
      commit: 'x',
    };
    const markdown = describeResult({
      scenario: bodies,
      measuredAt: 'now',
      machine,
      cases: results,
    });
    expect(markdown).toMatch(/^\| broken \|( - \|)+$/m);
    expect(markdown).toContain('- broken: did not start: no port');
  });
});
