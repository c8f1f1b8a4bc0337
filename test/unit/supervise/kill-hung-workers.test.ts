import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { WorkerProcess, WorkerState } from '../../../src/supervise/fork-worker.ts';
import { killHungWorkers } from '../../../src/supervise/kill-hung-workers.ts';
import { createMemoryLog } from '../../support/memory-log.ts';

const LONG_MS = 90_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A worker whose silence the test sets. */
function watchWorker(state: WorkerState = 'listening') {
  const silence = { ms: 0 };
  const kill = vi.fn();
  const worker: Partial<WorkerProcess> = {
    ...{ slot: 2, pid: 7, kill },
    state: () => state,
    silentForMs: () => silence.ms,
  };
  killHungWorkers(() => [worker as WorkerProcess], createMemoryLog());
  return { silence, kill };
}

it('kills a worker that is silent for a minute, and not one that was busy for most of it', () => {
  const { silence, kill } = watchWorker();
  silence.ms = LONG_MS;
  vi.advanceTimersByTime(59_000);
  silence.ms = 0;
  vi.advanceTimersByTime(1_000);
  silence.ms = LONG_MS;
  vi.advanceTimersByTime(59_000);
  expect(kill).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000);
  expect(kill).toHaveBeenCalledOnce();
});

it('kills none when a node comes back that was frozen for an hour', () => {
  const { silence, kill } = watchWorker();
  vi.advanceTimersByTime(1_000);
  silence.ms = 3_600_000;
  vi.advanceTimersByTime(2_000);
  silence.ms = 500;
  vi.advanceTimersByTime(LONG_MS);
  expect(kill).not.toHaveBeenCalled();
});

it('leaves workers alone that start or drain, which have times of their own', () => {
  for (const state of ['starting', 'draining'] as const) {
    const { silence, kill } = watchWorker(state);
    silence.ms = LONG_MS;
    vi.advanceTimersByTime(LONG_MS);
    expect(kill).not.toHaveBeenCalled();
  }
});
