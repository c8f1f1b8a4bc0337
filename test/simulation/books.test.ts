import { expect, it, vi } from 'vitest';
import { runSchedule } from './run-schedule.ts';
import { loadEngine } from './simulated-database.ts';

vi.mock('node:timers/promises', async () => {
  const { presentTime } = await import('./simulated-time.ts');
  return { setTimeout: (delayMs: number) => presentTime().wait(delayMs) };
});
vi.mock('node:fs/promises', async () => (await import('./simulated-disk.ts')).simulatedFs);
// One bucket is used; a round that visits 256 takes most of the time of a schedule.
vi.mock('../../src/keys/bucket-tags.ts', async (load) => ({
  ...(await load<object>()),
  BUCKETS: 16,
}));
// A month is closed in several steps, with entries in between.
vi.mock('../../src/books/engine/account-slices.ts', async (load) => {
  const actual = await load<typeof import('../../src/books/engine/account-slices.ts')>();
  return {
    ...actual,
    findSlice: (...[books, after]: Parameters<typeof actual.findSlice>) =>
      actual.findSlice(books, after, 1),
  };
});

/** `SIMULATION_SEED` repeats one schedule; `SIMULATION_SCHEDULES` runs more of them. */
const SEED = Number(process.env['SIMULATION_SEED'] ?? Date.now() % 1_000_000_000);
const SCHEDULES = Number(process.env['SIMULATION_SCHEDULES'] ?? 50);

it('brings each charge into the books and the sums of closed months once, whatever fails', {
  timeout: 600_000,
}, async () => {
  console.log(`SIMULATION_SEED=${SEED}`);
  const problems: string[] = [];
  let requests = 0;
  let closedMonths = 0;
  for (let i = 0; i < SCHEDULES && problems.length === 0; i++) {
    const report = await runSchedule(SEED + i, await loadEngine());
    requests += report.requests;
    closedMonths += report.closedMonths;
    const { faults } = report;
    problems.push(...report.problems.map((text) => `seed ${SEED + i} (${faults}): ${text}`));
  }
  expect(problems).toEqual([]);
  expect(requests).toBeGreaterThan(0);
  expect(closedMonths).toBeGreaterThan(0);
});
