import type { Clock } from '../lib/time/clock.ts';

const SLICE_MS = 1_000;
const SLICES = 10;
/** A share of fewer calls says nothing. */
const CALLS_MIN = 20;
const FAILED_SHARE_MAX = 0.5;

export const FAILURE_WINDOW_MS = SLICES * SLICE_MS;

/** How many of the calls of the last seconds failed. */
export interface FailureWindow {
  add(counts: { readonly calls: number; readonly failures: number }): void;
  isMostlyFailing(): boolean;
  clear(): void;
}

interface Slice {
  readonly index: number;
  calls: number;
  failures: number;
}

export function createFailureWindow(clock: Clock): FailureWindow {
  let slices: Slice[] = [];

  const findSlice = (): Slice => {
    const index = Math.floor(clock.nowMs() / SLICE_MS);
    const last = slices.at(-1);
    if (last?.index === index) return last;
    const slice = { index, calls: 0, failures: 0 };
    // A clock that is set back leaves slices of the future behind.
    const isRecent = (other: Slice) => other.index > index - SLICES && other.index < index;
    slices = [...slices.filter(isRecent), slice];
    return slice;
  };

  return {
    add({ calls, failures }) {
      const slice = findSlice();
      slice.calls += calls;
      slice.failures += failures;
    },
    isMostlyFailing() {
      let calls = 0;
      let failures = 0;
      for (const slice of slices) {
        calls += slice.calls;
        failures += slice.failures;
      }
      return Math.max(calls, failures) >= CALLS_MIN && failures >= calls * FAILED_SHARE_MAX;
    },
    clear() {
      slices = [];
    },
  };
}
