import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

interface Pace {
  readonly count: number;
  readonly ratePerSecond: number;
  /** Gets the time at which it should have run, by `performance.now()`. */
  readonly onDue: (dueMs: number) => void;
}

/** Timers may be late by more than a millisecond, so they end so much before the time. */
const TIMER_MARGIN_MS = 2;
const NAP_MAX_MS = 0.1;
/** The system wakes a sleeper up late by about so much. */
const NAP_LATE_MS = 0.06;
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

/** Calls at fixed times, whatever has become of the calls before; resolves after the last one. */
export async function pace({ count, ratePerSecond, onDue }: Pace): Promise<void> {
  const startMs = performance.now();
  const dueMsOf = (index: number) => startMs + (index * 1_000) / ratePerSecond;
  for (let index = 0; index < count; ) {
    for (const nowMs = performance.now(); index < count && dueMsOf(index) <= nowMs; index++) {
      onDue(dueMsOf(index));
    }
    if (index < count) await waitTowards(dueMsOf(index));
  }
}

async function waitTowards(dueMs: number): Promise<void> {
  const leftMs = dueMs - performance.now();
  if (leftMs > TIMER_MARGIN_MS) {
    await sleep(Math.floor(leftMs) - TIMER_MARGIN_MS + 1);
    return;
  }
  const napMs = Math.min(leftMs - NAP_LATE_MS, NAP_MAX_MS);
  if (napMs > 0) Atomics.wait(NEVER_WOKEN, 0, 0, napMs);
  await nextTurn();
}
