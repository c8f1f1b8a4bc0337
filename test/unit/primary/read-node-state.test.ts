import { expect, it } from 'vitest';
import { readUpstreamHealth } from '../../../src/primary/read-node-state.ts';
import type { UpstreamHealth } from '../../../src/routing/shared-upstream.ts';
import type { WorkerProcess, WorkerState } from '../../../src/supervise/fork-worker.ts';

/** A worker in this state that finds the upstream `main` so, or has not reported. */
function workerIn(state: WorkerState, health?: UpstreamHealth): WorkerProcess {
  const report = health && { upstreams: [{ name: 'main', health }] };
  const worker: Partial<Record<keyof WorkerProcess, unknown>> = {
    ...{ state: () => state, report: () => report },
  };
  return worker as unknown as WorkerProcess;
}

const healthOf = (...workers: WorkerProcess[]) => readUpstreamHealth(workers, 'main');

it('an upstream is as the worst of the workers finds it', () => {
  const closed = workerIn('listening', 'closed');
  expect(healthOf(closed, workerIn('listening', 'half-open'), closed)).toBe('half-open');
  expect(healthOf(closed, workerIn('starting'))).toBe('closed');
});

it('an upstream that a reload has mended is well while old workers drain that hardly call it', () => {
  const old = workerIn('draining', 'half-open');
  expect(healthOf(old, workerIn('listening', 'closed'))).toBe('closed');
});

it('an upstream is as draining workers found it until another worker has reported', () => {
  const old = workerIn('draining', 'open');
  expect(healthOf(old)).toBe('open');
  expect(healthOf(old, workerIn('listening'))).toBe('open');
  expect(healthOf(workerIn('listening'))).toBeUndefined();
});
