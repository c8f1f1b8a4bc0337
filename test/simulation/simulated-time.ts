import { AsyncLocalStorage } from 'node:async_hooks';
import { vi } from 'vitest';
import { createRandom, type Random } from '../proof/support/random.ts';

/** Simulated time starts here: 2026-11-24, 12:00 UTC. */
const START_MS = Date.UTC(2026, 10, 24, 12);
const CALLS_MAX = 200_000;

/** A process that can be killed: whatever it waits for never comes. */
export interface SimulatedProcess {
  readonly name: string;
  isAlive: boolean;
  /** Until then it does nothing. */
  frozenUntilMs?: number;
}

interface Call {
  atMs: number;
  /** Calls of the same moment run in an order that the seed decides. */
  readonly rank: number;
  readonly process: SimulatedProcess | undefined;
  readonly run: () => void;
  isCancelled: boolean;
}

/**
 * A clock that stands still until everything has been done that is to be done at its moment. One
 * seed gives one order of all calls, so a failure can be repeated.
 */
export interface SimulatedTime {
  readonly random: Random;
  nowMs(): number;
  /** Runs as part of a process, with all that follows from it. */
  inProcess<Result>(process: SimulatedProcess, run: () => Result): Result;
  /** Calls back later, unless the process that asks for it is dead by then. */
  callLater(delayMs: number, run: () => void): { cancel(): void };
  /** The same for what belongs to no process. */
  happenLater(delayMs: number, run: () => void): void;
  /** Resolves after a delay; never if the process that waits is dead by then. */
  wait(delayMs: number): Promise<void>;
  /** Goes on until a moment. */
  runUntil(untilMs: number): Promise<void>;
}

const realImmediate = setImmediate;

export function createSimulatedTime(seed: number): SimulatedTime {
  const random = createRandom(seed);
  const current = new AsyncLocalStorage<SimulatedProcess | undefined>();
  const calls: Call[] = [];
  let now = START_MS;
  let done = 0;

  const insert = (call: Call) => {
    let at = calls.length;
    while (at > 0 && isAfter(calls[at - 1] as Call, call)) at--;
    calls.splice(at, 0, call);
  };

  const add = (delayMs: number, process: SimulatedProcess | undefined, run: () => void) => {
    const rank = random.next();
    const call: Call = { atMs: now + Math.max(0, delayMs), rank, process, run, isCancelled: false };
    insert(call);
    return call;
  };

  const time: SimulatedTime = {
    random,
    nowMs: () => now,
    inProcess: (process, run) => current.run(process, run),
    callLater(delayMs, run) {
      const call = add(delayMs, current.getStore(), run);
      return {
        cancel() {
          call.isCancelled = true;
        },
      };
    },
    happenLater: (delayMs, run) => void add(delayMs, undefined, run),
    wait: (delayMs) => new Promise((resolve) => time.callLater(delayMs, resolve)),
    async runUntil(untilMs) {
      while (calls[0] !== undefined && calls[0].atMs <= untilMs) {
        const call = calls.shift() as Call;
        now = Math.max(now, call.atMs);
        if (call.isCancelled || call.process?.isAlive === false) continue;
        const thawMs = call.process?.frozenUntilMs ?? 0;
        if (thawMs > now) {
          call.atMs = thawMs;
          insert(call);
          continue;
        }
        done++;
        if (done > CALLS_MAX) throw new Error(`more than ${CALLS_MAX} calls: something never ends`);
        current.run(call.process, call.run);
        // All that follows from it without further waiting.
        await new Promise((resolve) => realImmediate(resolve));
      }
      now = Math.max(now, untilMs);
    },
  };
  return time;
}

function isAfter(call: Call, other: Call): boolean {
  return call.atMs > other.atMs || (call.atMs === other.atMs && call.rank > other.rank);
}

let time: SimulatedTime | undefined;

/** The time of the schedule that runs now, for what stands in for modules of Node.js. */
export function presentTime(): SimulatedTime {
  if (time === undefined) throw new Error('no schedule runs');
  return time;
}

/** Lets the timers of the process run by the simulated clock until `release` is called. */
export function useSimulatedTime(next: SimulatedTime): { release(): void } {
  time = next;
  const timerOf = (call: { cancel(): void }) => ({
    ...call,
    unref() {
      return this;
    },
  });
  const clear = (timer: { cancel(): void } | undefined) => timer?.cancel();
  vi.stubGlobal('setTimeout', (run: () => void, delayMs = 0) =>
    timerOf(next.callLater(delayMs, run)),
  );
  vi.stubGlobal('clearTimeout', clear);
  vi.stubGlobal('setInterval', (run: () => void, everyMs: number) => {
    let call = { cancel() {} };
    const again = () => {
      call = next.callLater(everyMs, again);
      run();
    };
    call = next.callLater(everyMs, again);
    return timerOf({ cancel: () => call.cancel() });
  });
  vi.stubGlobal('clearInterval', clear);
  vi.stubGlobal('performance', { now: next.nowMs });
  return {
    release() {
      vi.unstubAllGlobals();
      time = undefined;
    },
  };
}
