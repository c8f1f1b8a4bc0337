import { expect, it, onTestFinished, vi } from 'vitest';
import type { Operator } from '../../../src/accounts/audit/audit-entry.ts';
import type { FleetMessage } from '../../../src/fleet/fleet-messages.ts';
import { createReloadNodes } from '../../../src/fleet/reload-nodes.ts';
import type { ReloadResult } from '../../../src/ops/reload-result.ts';

const WHO: Operator = { via: 'api', token: 'abc', address: '127.0.0.1', operator: null };
const MINUTE_MS = 60_000;
/** Each worker takes its start and a step of the roll. */
const WORKER_MS = 4_500;
const WORKERS_MAX = 256;

/** Two nodes on one line, whose reloads take so long. The second may die while it reloads. */
function createScene(reloadMs: number, { diesAfterMs = Infinity } = {}) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const handlers: ((message: FleetMessage) => void)[] = [];
  const startMs = Date.now();
  const createNode = (run: string, endMs: number) =>
    createReloadNodes({
      run,
      nowMs: Date.now,
      createAskId: () => `ask of ${run}`,
      line: {
        async publish(message) {
          if (Date.now() - startMs < endMs) for (const handle of handlers) handle(message);
        },
        onMessage: (type, handle) =>
          void handlers.push((message) => {
            if (message.type === type) handle(message as never);
          }),
      },
      // As a node does: who cannot wait for the end learns that the reload still runs.
      reload: (_who, waitMaxMs) =>
        new Promise<ReloadResult>((resolve) => {
          setTimeout(() => resolve({ kind: 'reloaded', configVersion: run }), reloadMs);
          setTimeout(() => resolve({ kind: 'running', configVersion: run }), waitMaxMs);
        }),
    });
  const reloadNodes = createNode('first', Infinity);
  createNode('second', diesAfterMs);
  const nodes = ['first', 'second'].map((run) => ({ id: run, run }));
  return { reload: () => reloadNodes(nodes, WHO) };
}

it('waits for the end of a reload however many workers a node has', async () => {
  const reloadMs = WORKERS_MAX * WORKER_MS;
  const ended = createScene(reloadMs).reload();
  await vi.advanceTimersByTimeAsync(2 * reloadMs);
  expect(await ended).toEqual([
    { id: 'first', status: 'reloaded', config_version: 'first' },
    { id: 'second', status: 'reloaded', config_version: 'second' },
  ]);
});

it('a node that dies while it reloads is silent', async () => {
  const { reload } = createScene(10 * MINUTE_MS, { diesAfterMs: 15 * MINUTE_MS });
  const ended = reload();
  await vi.advanceTimersByTimeAsync(17 * MINUTE_MS);
  expect(await ended).toEqual([
    { id: 'first', status: 'reloaded', config_version: 'first' },
    { id: 'second', status: 'silent', problems: ['it did not tell how its reload ended'] },
  ]);
});
