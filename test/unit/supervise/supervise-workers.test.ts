import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkerExit, WorkerProcess, WorkerState } from '../../../src/supervise/fork-worker.ts';
import { superviseWorkers } from '../../../src/supervise/supervise-workers.ts';

const LONG_MS = 720_000;
const HURRIED_MS = 120_000;
const ORDER = { timeoutMs: LONG_MS, hurriedMs: HURRIED_MS, lingerMs: 0, isUndo: false };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Two workers whose streams last longer than the test, by the number of their fork. */
async function createStage() {
  const drains = new Map<number, number[]>();
  let brokenSlot = 0;
  let forks = 0;
  const fork = (slot: number) => {
    forks += 1;
    const pid = forks;
    let state: WorkerState = 'starting';
    const listening = Promise.resolve().then(() => {
      if (slot === brokenSlot) throw new Error('did not start');
      state = 'listening';
    });
    listening.catch(() => {});
    let exit: (how: WorkerExit) => void = () => {};
    const exited = new Promise<WorkerExit>((resolve) => {
      exit = resolve;
    });
    const worker: Partial<WorkerProcess> = {
      ...{ slot, pid, startedMs: 0, listening, exited },
      state: () => state,
      silentForMs: () => 0,
      drain({ timeoutMs }) {
        state = 'draining';
        drains.set(pid, [...(drains.get(pid) ?? []), timeoutMs]);
      },
      kill: () => exit({ code: null, signal: 'SIGKILL' }),
    };
    return worker as WorkerProcess;
  };
  const workers = superviseWorkers({
    fork,
    nowMs: () => 0,
    log: { info() {}, warn() {}, error() {} } as never,
    onReplace() {},
    onGiveUp() {},
  });
  await workers.start(2);
  const roll = async ({ broken = 0, isUndo = false } = {}) => {
    brokenSlot = broken;
    const rolling = workers.roll(2, { ...ORDER, isUndo });
    // A roll waits some seconds for each worker that it has replaced.
    await vi.advanceTimersByTimeAsync(10_000);
    return (await rolling).replaced;
  };
  return { roll, drainsOf: (...pids: number[]) => pids.map((pid) => drains.get(pid)) };
}

describe('a roll', () => {
  it('hurries workers that two rolls have replaced, and not those of the last', async () => {
    const { roll, drainsOf } = await createStage();
    expect([await roll(), await roll()]).toEqual([2, 2]);
    expect(drainsOf(1, 2, 3, 4)).toEqual([[LONG_MS], [LONG_MS], [LONG_MS], [LONG_MS]]);
    await roll();
    const hurried = [LONG_MS, HURRIED_MS];
    expect(drainsOf(1, 2, 3, 4)).toEqual([hurried, hurried, [LONG_MS], [LONG_MS]]);
  });

  it('takes no time from workers of a roll that broke off and was undone', async () => {
    const { roll, drainsOf } = await createStage();
    // Forks 3 and 4, and then 5 and 6 in their place.
    expect([await roll({ broken: 2 }), await roll({ isUndo: true })]).toEqual([1, 2]);
    expect(await roll()).toBe(2);
    expect(drainsOf(1, 2, 3)).toEqual([[LONG_MS], [LONG_MS], [LONG_MS]]);
    await roll();
    const hurried = [LONG_MS, HURRIED_MS];
    expect(drainsOf(1, 2, 3)).toEqual([hurried, hurried, hurried]);
  });

  it('takes no time from anybody if its first worker does not start', async () => {
    const { roll, drainsOf } = await createStage();
    await roll();
    await roll();
    expect(await roll({ broken: 1 })).toBe(0);
    expect(drainsOf(1, 2, 3, 4)).toEqual([[LONG_MS], [LONG_MS], [LONG_MS], [LONG_MS]]);
    await roll();
    const hurried = [LONG_MS, HURRIED_MS];
    expect(drainsOf(1, 2, 3, 4)).toEqual([hurried, hurried, [LONG_MS], [LONG_MS]]);
  });
});
