/**
 * FAST TWIN of `setInterval`.
 * Held equal by `test/load/run-load.test.ts`.
 * Gain: 0.53 to 0.013 ms, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import { writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

interface Metronome {
  stop(): void;
}

interface MetronomeOptions {
  readonly intervalMs: number;
  /**
   * Runs soon after each `startMs + tick * intervalMs` by `performance.now()`, from tick 0 on. Some
   * ticks may be skipped.
   */
  readonly onTick: (tick: number, startMs: number) => void;
  readonly onFault: (error: Error) => void;
}

interface ThreadData {
  /**
   * The first cell ends the thread. The second is set while a tick message is on its way.
   */
  readonly cells: Int32Array;
  /** One value: the time of tick 0, by the clock that all threads share. */
  readonly start: Float64Array;
  readonly intervalMs: number;
}

/** How many times two clocks are read to find their offset. */
const CLOCK_READS = 100;

/**
 * Ticks from a thread of its own, which can sleep for less than the millisecond of Node's timers.
 * Meanwhile the loop of the calling thread waits for answers and reads each when it comes. Latency
 * counts from when a request was due, so a late tick would add to every latency that is shown.
 */
export function startMetronome({ intervalMs, onTick, onFault }: MetronomeOptions): Metronome {
  const cells = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const start = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  const threadData: ThreadData = { cells, start, intervalMs };
  sleepExactly();
  // A function passed as text runs in the thread from sources and from built files alike.
  const thread = new Worker(`(${runThread})(require('node:worker_threads'))`, {
    eval: true,
    workerData: threadData,
  });
  const clockOffsetMs = readClockOffsetMs();
  thread.on('message', (tick: number) => {
    Atomics.store(cells, 1, 0);
    onTick(tick, (start[0] ?? 0) - clockOffsetMs);
  });
  thread.on('error', onFault);
  return {
    stop() {
      thread.removeAllListeners('message');
      Atomics.store(cells, 0, 1);
      Atomics.notify(cells, 0);
    },
  };
}

/**
 * Threads created from now on are woken at the time they asked for, not up to 50 us later together
 * with others.
 */
function sleepExactly(): void {
  try {
    writeFileSync('/proc/self/timerslack_ns', '1');
  } catch {
    // Not every system has this file. Without it, ticks are late by up to 50 us.
  }
}

/**
 * How far the clock that all threads share is ahead of this thread's own. The reading with the
 * least disturbance counts.
 */
function readClockOffsetMs(): number {
  const readOnce = () => Number(process.hrtime.bigint()) / 1e6 - performance.now();
  return Math.max(...Array.from({ length: CLOCK_READS }, readOnce));
}

/** Runs as text, so it can use nothing of this file but types. */
function runThread({ parentPort, workerData }: typeof import('node:worker_threads')): void {
  const { cells, start, intervalMs } = workerData as ThreadData;
  // The system wakes a sleeping thread about this late, so a loop spends the last part of each
  // wait.
  const wakeUpMs = 0.03;
  const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
  const startMs = nowMs();
  start[0] = startMs;
  for (let tick = 0; Atomics.load(cells, 0) === 0; ) {
    const tickMs = startMs + tick * intervalMs;
    const napMs = tickMs - nowMs() - wakeUpMs;
    if (napMs > 0) Atomics.wait(cells, 0, 0, napMs);
    while (nowMs() < tickMs && Atomics.load(cells, 0) === 0);
    if (Atomics.exchange(cells, 1, 1) === 0) parentPort?.postMessage(tick);
    tick = Math.floor((nowMs() - startMs) / intervalMs) + 1;
  }
}
