import cluster from 'node:cluster';
import { expect, it, onTestFinished, vi } from 'vitest';
import { forkWorker } from '../../../src/supervise/fork-worker.ts';

it('a worker for which the system has no room is one that ended at once', async () => {
  const forking = vi.spyOn(cluster, 'fork').mockImplementation(() => {
    throw new Error('spawn ENOMEM');
  });
  onTestFinished(() => forking.mockRestore());
  const order = { worker: 3, config: '', configVersion: '', embeddedRedisPath: undefined };
  const worker = forkWorker(order, {
    catalogue: () => ({ version: undefined, models: [], plans: {} }),
    nextCatalogue: () => undefined,
    journal: () => Promise.resolve(),
    downUpstreams: () => [],
    areBooksFull: () => false,
    noteRefusals: () => {},
    onActivity: () => {},
    onReport: () => {},
  });
  await expect(worker.listening).rejects.toThrow('spawn ENOMEM');
  expect(await worker.exited).toEqual({ code: null, signal: null });
  worker.announceBooksFull(true);
  worker.drain({ timeoutMs: 1_000, lingerMs: 0 });
  worker.kill();
  expect(worker).toMatchObject({ slot: 3, pid: 0 });
  expect(await worker.readMetrics()).toEqual([]);
});
