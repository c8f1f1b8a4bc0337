import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDeferred } from '../../../src/lib/time/deferred.ts';
import type { WorkerExit, WorkerProcess } from '../../../src/supervise/fork-worker.ts';
import { STABLE_AFTER_MS } from '../../../src/supervise/restart-policy.ts';
import { createWorkerSlots } from '../../../src/supervise/worker-slots.ts';
import { createMemoryLog } from '../../support/memory-log.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** One worker in its slot. */
function createStage() {
  const deaths: (() => void)[] = [];
  const fork = () => {
    const { promise: exited, resolve } = createDeferred<WorkerExit>();
    deaths.push(() => resolve({ code: null, signal: 'SIGKILL' }));
    const worker: Partial<WorkerProcess> = {
      ...{ slot: 1, pid: deaths.length, startedMs: Date.now() },
      ...{ listening: Promise.resolve(), exited },
    };
    return worker as WorkerProcess;
  };
  const log = createMemoryLog();
  const slots = createWorkerSlots({
    ...{ fork, log, nowMs: () => performance.now() },
    onReplace() {},
    onGiveUp() {},
  });
  slots.occupy(1, slots.launch(1));
  return { log, countForks: () => deaths.length, die: () => deaths.at(-1)?.() };
}

it.each([
  ['at once if it lived long', 'back', -HOUR_MS, STABLE_AFTER_MS, 2],
  ['after a pause if it lived briefly', 'forward', HOUR_MS, 1_000, 1],
])('a worker that dies is replaced %s, although the clock was set %s', async (...row) => {
  const [, , setMs, livedMs, forks] = row;
  const { log, countForks, die } = createStage();
  await vi.advanceTimersByTimeAsync(livedMs);
  vi.setSystemTime(Date.now() + setMs);
  die();
  await vi.advanceTimersByTimeAsync(1);
  expect(countForks()).toBe(forks);
  expect(log.lines.find(({ message }) => message === 'worker died')?.fields).toMatchObject({
    livedMs,
  });
});
