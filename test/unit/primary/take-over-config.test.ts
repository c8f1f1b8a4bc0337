import { expect, it, onTestFinished, vi } from 'vitest';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { createDeferred } from '../../../src/lib/time/deferred.ts';
import type { ConfigInUse } from '../../../src/primary/read-next-config.ts';
import { takeOverConfig } from '../../../src/primary/take-over-config.ts';
import type { WorkerExit, WorkerProcess } from '../../../src/supervise/fork-worker.ts';
import { type RollOrder, superviseWorkers } from '../../../src/supervise/supervise-workers.ts';
import { createMemoryLog } from '../../support/memory-log.ts';

function settings(workers: number, count: number): ConfigInUse {
  const source = { path: undefined, text: `workers: ${workers}\n`, env: {} };
  return { source, config: parseConfig(source), count };
}

const PREVIOUS = settings(2, 1);
const NEXT = settings(4, 2);

/** A node whose worker in this slot does not start with the new settings. */
async function takeOver(brokenSlot: number, { restoring }: { restoring?: string } = {}) {
  const done: string[] = [];
  let used = PREVIOUS;
  const use = (inUse: ConfigInUse) => {
    used = inUse;
  };
  const restore = (effective: ConfigInUse) => {
    used = effective;
    if (restoring !== undefined) throw new Error(restoring);
  };
  const workers = {
    async roll(count: number, { isUndo }: RollOrder) {
      const isBroken = used === NEXT && brokenSlot <= count;
      const replaced = isBroken ? brokenSlot - 1 : count;
      done.push(`${isUndo ? 'undo: ' : ''}${replaced} of ${count} with count ${used.count}`);
      return { replaced, failure: isBroken ? new Error('did not start') : undefined };
    },
  };
  const failure = await takeOverConfig({
    workers,
    previous: PREVIOUS,
    next: NEXT,
    use,
    restore,
  }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { done, failure, used };
}

it('a replaced worker has time for an answer of full length whose client leaves at its end', async () => {
  const [previous, next] = ['total: 30m', 'total: 20m'].map((timeouts, index) => {
    const upstream = `{name: main, kind: chat, url: "https://llm.test", timeouts: {${timeouts}}}`;
    const timeout = `{timeout: ${index + 1}m}`;
    const text = `upstreams: [${upstream}]\ndrain: ${timeout}\non_leave: ${timeout}\n`;
    const source = { path: undefined, text, env: {} };
    return { source, config: parseConfig(source), count: index };
  });
  const roll = vi.fn(async () => ({ replaced: 1, failure: undefined }));
  if (previous === undefined || next === undefined) throw new Error('there are two settings');
  await takeOverConfig({ workers: { roll }, previous, next, use() {}, restore() {} });
  const order = expect.objectContaining({ timeoutMs: 34 * 60_000, hurriedMs: 2 * 60_000 });
  expect(roll).toHaveBeenCalledExactlyOnceWith(expect.any(Number), order);
});

it('new settings hold when every worker has them', async () => {
  expect(await takeOver(9)).toEqual({
    ...{ done: ['4 of 4 with count 2'], failure: undefined, used: NEXT },
  });
});

it('old settings hold when the first worker does not start, and no worker is touched', async () => {
  expect(await takeOver(1)).toEqual({
    ...{ done: ['0 of 4 with count 2'], failure: 'did not start', used: PREVIOUS },
  });
});

it('workers that have new settings get the old ones again when a later one does not start', async () => {
  expect(await takeOver(3)).toEqual({
    done: ['2 of 4 with count 2', 'undo: 2 of 2 with count 1'],
    ...{ failure: 'did not start', used: PREVIOUS },
  });
});

it('workers get the old settings again although not all of them can be restored, and both reasons are told', async () => {
  expect(await takeOver(3, { restoring: 'no such file' })).toEqual({
    done: ['2 of 4 with count 2', 'undo: 2 of 2 with count 1'],
    ...{ failure: 'did not start; and then: no such file', used: PREVIOUS },
  });
});

/** A node with real slots. In one, a worker with the new settings fails when the test says so. */
async function startNode(brokenSlot: number) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let used = PREVIOUS;
  const refused = createDeferred<Error>();
  const countOf = new Map<WorkerProcess, number>();
  const fork = (slot: number) => {
    const { promise: exited, resolve } = createDeferred<WorkerExit>();
    const end = () => resolve({ code: null, signal: 'SIGKILL' });
    const isBroken = slot === brokenSlot && used === NEXT;
    const listening = isBroken ? refused.promise.then((error) => Promise.reject(error)) : undefined;
    const worker: Partial<WorkerProcess> = {
      ...{ slot, pid: countOf.size, startedMs: 0, exited, drain: end, kill: end },
      ...{ listening: listening ?? Promise.resolve(), state: () => 'listening' },
      silentForMs: () => 0,
    };
    countOf.set(worker as WorkerProcess, used.count);
    return worker as WorkerProcess;
  };
  const workers = superviseWorkers({
    ...{ fork, nowMs: () => performance.now(), log: createMemoryLog() },
    onReplace() {},
    onGiveUp() {},
  });
  await workers.start(PREVIOUS.config.workers);
  const change = (inUse: ConfigInUse) => {
    used = inUse;
  };
  const switches = { use: change, restore: change };
  return {
    takeOver: () => takeOverConfig({ workers, previous: PREVIOUS, next: NEXT, ...switches }),
    kill: (slot: number) =>
      workers
        .workers()
        .find((worker) => worker.slot === slot)
        ?.kill(),
    refuse: () => refused.resolve(new Error('did not start')),
    /** The settings of the living workers, by slot. */
    counts: () =>
      Object.fromEntries(workers.workers().map((worker) => [worker.slot, countOf.get(worker)])),
  };
}

it.each([1, 2])(
  'a worker that dies while the new one of slot %i starts in vain ends with the old settings',
  async (broken) => {
    const { takeOver, kill, refuse, counts } = await startNode(broken);
    const failure = takeOver().catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(1_000);
    kill(3 - broken);
    // By then another has started in its place.
    await vi.advanceTimersByTimeAsync(1_000);
    expect(counts()[3 - broken]).toBe(NEXT.count);
    refuse();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await failure).toBe('did not start');
    expect(counts()).toEqual({ 1: PREVIOUS.count, 2: PREVIOUS.count });
  },
);
