import { expect, it, vi } from 'vitest';
import { openJournalFiles } from '../../src/quota/journal/journal-files.ts';
import { makeSettlements } from '../quota/settle-scene.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { runSchedule } from './run-schedule.ts';
import { createSimulatedDisk } from './simulated-disk.ts';
import { createSimulatedTime, useSimulatedTime } from './simulated-time.ts';

vi.mock('node:timers/promises', async () => {
  const { presentTime } = await import('./simulated-time.ts');
  return { setTimeout: (delayMs: number) => presentTime().wait(delayMs) };
});
vi.mock('node:fs/promises', async () => (await import('./simulated-disk.ts')).simulatedFs);

/** `SIMULATION_SEED` repeats one schedule; `SIMULATION_SCHEDULES` runs more of them. */
const SEED = Number(process.env['SIMULATION_SEED'] ?? Date.now() % 1_000_000_000);
const SCHEDULES = Number(process.env['SIMULATION_SCHEDULES'] ?? 100);

it('charges each request once, whatever fails in whatever order', {
  timeout: 600_000,
}, async () => {
  console.log(`SIMULATION_SEED=${SEED}`);
  const problems: string[] = [];
  let requests = 0;
  for (let i = 0; i < SCHEDULES && problems.length === 0; i++) {
    const report = await runSchedule(SEED + i);
    requests += report.requests;
    const { faults } = report;
    problems.push(...report.problems.map((text) => `seed ${SEED + i} (${faults}): ${text}`));
  }
  expect(problems).toEqual([]);
  expect(requests).toBeGreaterThan(0);
});

it('leaves no file behind for each try on a full disk', async () => {
  const time = createSimulatedTime(1);
  const { release } = useSimulatedTime(time);
  const disk = createSimulatedDisk();
  disk.isFull = true;
  const refused: unknown[] = [];
  void openJournalFiles({
    ...{ dir: '/journal', segmentBytesMax: 10_000, bytesMax: 100_000 },
    isLoadingNext: () => true,
    onWritten: () => {},
    log: createMemoryLog(),
  }).then(async (files) => {
    for (let tries = 0; tries < 3; tries++) {
      await files.append(makeSettlements(2)).catch((error: unknown) => refused.push(error));
    }
  });
  await time.runUntil(time.nowMs() + 10_000);
  release();
  expect(refused).toHaveLength(3);
  expect(disk.list()).toEqual([]);
});
