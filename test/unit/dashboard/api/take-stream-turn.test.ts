import { setImmediate as endStep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDeferred } from '../../../../src/lib/time/deferred.ts';
import { waitUntil } from '../../../support/wait-until.ts';

interface StreamTurn {
  readonly run: () => Promise<void>;
  readonly onWait: () => void;
  readonly ending: AbortSignal;
}

/** Its types are those of a browser, which tests are checked without. */
const MODULE: string = '../../../../src/dashboard/api/take-stream-turn.ts';
const { takeStreamTurn } = (await import(MODULE)) as {
  readonly takeStreamTurn: (turn: StreamTurn) => Promise<void>;
};

interface LockOptions {
  readonly ifAvailable?: boolean;
  readonly signal?: AbortSignal;
}

const TURNS = [0, 1, 2, 3].map((turn) => `tollgate-stream-${turn}`);

/** Locks as a browser has them, as far as turns use them. */
function createLocks() {
  const held = new Set<string>();
  const waiting: { readonly name: string; readonly go: () => void }[] = [];
  const release = (name: string) => {
    held.delete(name);
    const index = waiting.findIndex((request) => request.name === name);
    if (index >= 0) waiting.splice(index, 1)[0]?.go();
  };
  const waitFor = (name: string, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ name, go: resolve });
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  const request = async (
    name: string,
    { ifAvailable, signal }: LockOptions,
    hold: (lock: object | null) => Promise<void>,
  ) => {
    await endStep();
    signal?.throwIfAborted();
    if (held.has(name) && ifAvailable === true) return await hold(null);
    if (held.has(name)) await waitFor(name, signal);
    held.add(name);
    await hold({ name }).finally(() => release(name));
  };
  return { held, release, request };
}

let locks: ReturnType<typeof createLocks>;

beforeEach(() => {
  locks = createLocks();
  vi.stubGlobal('navigator', { locks });
  vi.spyOn(performance, 'getEntriesByType').mockReturnValue([
    Object.assign(Object.create(null), { nextHopProtocol: 'http/1.1' }),
  ]);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function takeTurn() {
  const ending = new AbortController();
  const end = createDeferred();
  const run = vi.fn(() => end.promise);
  const onWait = vi.fn();
  return { ending, end, run, onWait, turn: takeStreamTurn({ run, onWait, ending: ending.signal }) };
}

test('a window reads its stream if a turn is free, and gives the turn back', async () => {
  for (const name of TURNS.slice(0, 3)) locks.held.add(name);
  const { end, run, onWait, turn } = takeTurn();
  await waitUntil(() => run.mock.calls.length === 1, 'the stream is read');
  expect(locks.held.size).toBe(TURNS.length);
  end.resolve();
  await turn;
  await waitUntil(() => locks.held.size === 3, 'the turn is free');
  expect(onWait).not.toHaveBeenCalled();
});

test('a window holds one turn, however many are free', async () => {
  const { end, run, turn } = takeTurn();
  await waitUntil(() => run.mock.calls.length > 0, 'the stream is read');
  await waitUntil(() => locks.held.size === 1, 'the other turns are free');
  end.resolve();
  await turn;
  expect(run).toHaveBeenCalledOnce();
});

test('a window that finds all turns taken says so, and reads when one is given back', async () => {
  for (const name of TURNS) locks.held.add(name);
  const { end, run, onWait, turn } = takeTurn();
  await waitUntil(() => onWait.mock.calls.length === 1, 'it waits');
  expect(run).not.toHaveBeenCalled();
  locks.release('tollgate-stream-2');
  await waitUntil(() => run.mock.calls.length === 1, 'the stream is read');
  end.resolve();
  await turn;
});

test('a window that is hidden at any step of its wait has waited to the end, and reads nothing', async () => {
  for (const takenCount of [0, 3, 4]) {
    for (let step = 0; step < 6; step += 1) {
      for (const name of TURNS.slice(0, takenCount)) locks.held.add(name);
      const { ending, end, run, turn } = takeTurn();
      for (let i = 0; i < step && run.mock.calls.length === 0; i += 1) await endStep();
      const isRead = run.mock.calls.length > 0;
      ending.abort();
      end.resolve();
      await turn;
      expect(run.mock.calls.length > 0, `hidden at step ${step}`).toBe(isRead);
      await waitUntil(() => locks.held.size === takenCount, 'its turns are free');
    }
  }
});
