import type { Clock } from '../lib/time/clock.ts';
import { classifyRedisError } from './classify-redis-error.ts';
import { RedisUnavailable } from './redis-unavailable.ts';

/**
 *            5 failures in a row, or half of the calls of 1 s
 *   closed ────────────────────────────────────────────────────▶ open ◀──────┐
 *     ▲                                                           │ 250 ms   │ it fails
 *     └───────────────────── it succeeds ──── half-open ◀─────────┘ ─────────┘
 *                                             (one call goes through)
 */
type BreakerState = 'closed' | 'open' | 'half-open';

const FAILURES_IN_ROW_MAX = 5;
const WINDOW_MS = 1_000;
const WINDOW_SLICES = 10;
const SLICE_MS = WINDOW_MS / WINDOW_SLICES;
/** A share of fewer calls says nothing. */
const WINDOW_CALLS_MIN = 20;
const FAILED_SHARE_MAX = 0.5;
/** On average. A jitter of half of it keeps workers from probing in step. */
const PROBE_INTERVAL_MS = 250;

/** The permission for one call. */
interface Pass {
  /**
   * Counts the changes of state. A call that began before the last change says nothing about now.
   */
  readonly epoch: number;
}

export interface Breaker {
  state(): BreakerState;
  /** Undefined means: do not call. The caller gives each pass back once, with the outcome. */
  enter(): Pass | undefined;
  leave(pass: Pass, outcome: 'ok' | 'failed'): void;
}

interface Slice {
  index: number;
  calls: number;
  failures: number;
}

/** `random` returns numbers from 0 up to 1. */
export function createBreaker({
  clock,
  random,
}: {
  readonly clock: Clock;
  readonly random: () => number;
}): Breaker {
  let isOpen = false;
  let epoch = 0;
  let failuresInRow = 0;
  let window: Slice[] = [];
  let probesInFlight = 0;
  let nextProbeAtMs = 0;

  const scheduleProbe = () => {
    nextProbeAtMs = clock.nowMs() + PROBE_INTERVAL_MS * (0.5 + random());
  };

  const change = (open: boolean) => {
    isOpen = open;
    epoch += 1;
    failuresInRow = 0;
    window = [];
    probesInFlight = 0;
    if (open) scheduleProbe();
  };

  const isProbeDue = () => {
    const waitMs = nextProbeAtMs - clock.nowMs();
    // A longer wait than is ever scheduled means that the clock was set back.
    return waitMs <= 0 || waitMs > 2 * PROBE_INTERVAL_MS;
  };

  const count = (failed: boolean) => {
    failuresInRow = failed ? failuresInRow + 1 : 0;
    window = addToWindow(window, clock.nowMs(), failed);
    if (failed && (failuresInRow >= FAILURES_IN_ROW_MAX || isMostlyFailing(window))) change(true);
  };

  return {
    state: () => {
      if (!isOpen) return 'closed';
      return probesInFlight > 0 || isProbeDue() ? 'half-open' : 'open';
    },
    enter: () => {
      if (isOpen) {
        if (!isProbeDue()) return undefined;
        probesInFlight += 1;
        scheduleProbe();
      }
      return { epoch };
    },
    leave: (pass, outcome) => {
      if (pass.epoch !== epoch) return;
      if (!isOpen) count(outcome === 'failed');
      else if (outcome === 'ok') change(false);
      else probesInFlight -= 1;
    },
  };
}

/** Rejects with `RedisUnavailable`, without calling, while the breaker refuses. */
export function callThrough<Result>(
  breaker: Breaker,
  call: () => Promise<Result>,
): Promise<Result> {
  const pass = breaker.enter();
  if (pass === undefined) return Promise.reject(new RedisUnavailable());
  return call().then(
    (result) => {
      breaker.leave(pass, 'ok');
      return result;
    },
    (error: unknown) => {
      breaker.leave(pass, classifyRedisError(error) === 'outage' ? 'failed' : 'ok');
      throw error;
    },
  );
}

function addToWindow(window: Slice[], nowMs: number, failed: boolean): Slice[] {
  const index = Math.floor(nowMs / SLICE_MS);
  const failures = failed ? 1 : 0;
  const last = window.at(-1);
  if (last?.index !== index) {
    const recent = window.filter((s) => s.index > index - WINDOW_SLICES && s.index < index);
    return [...recent, { index, calls: 1, failures }];
  }
  last.calls += 1;
  last.failures += failures;
  return window;
}

function isMostlyFailing(window: readonly Slice[]): boolean {
  let calls = 0;
  let failures = 0;
  for (const slice of window) {
    calls += slice.calls;
    failures += slice.failures;
  }
  return calls >= WINDOW_CALLS_MIN && failures >= calls * FAILED_SHARE_MAX;
}
