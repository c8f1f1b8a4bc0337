import type { Clock } from '../lib/time/clock.ts';
import { createFailureWindow, FAILURE_WINDOW_MS } from './failure-window.ts';
import { createProbeTurn } from './probe-turn.ts';
import { createRest, type Rest } from './rest.ts';

/**
 *           5 failures in a row, or 2 in a row over a second,
 *           or half of the calls of 10 s
 *   closed ──────────────────────────────────────────────────▶ open ◀───────────┐
 *    ▲                                                          │ pause is over │ the probe fails:
 *    │                                                          ▼               │ a longer pause
 *    │                                                       half-open ─────────┘
 *    │                                                          │ (few calls at a time)
 *    └──────────────────── the probe's first event ◀────────────┘
 */
export type HealthState = 'closed' | 'half-open' | 'open';

export type Outcome = 'ok' | 'overloaded' | 'failed' | 'ignored';

const FAILURES_IN_ROW_MAX = 5;
/** Also detects upstreams that fail with little traffic, or with a small share of it. */
const FAILING_MAX_MS = 1_000;
const FAILING_CALLS_MIN = 2;

/** Half of it is jitter, which keeps workers from probing in step. */
const PAUSE_MS = 500;
const PAUSE_MAX_MS = 10_000;

/** The permission for one call. */
interface Pass {
  /**
   * Counts the changes of state. A call that began before the last change says nothing about now.
   */
  readonly epoch: number;
  /**
   * The pause of one model, for an upstream that is well but has too much to do. It does not affect
   * other models.
   */
  readonly pause: Rest;
  hasAnswered: boolean;
}

/** The passive health of one upstream: what its calls show, and nothing else. */
export interface Health {
  state(): HealthState;
  /** How long no call may enter; also 0 while a probe is under way. */
  restMs(): number;
  canEnter(): boolean;
  /** Whether a probe has shown nothing yet. Another call may still enter after a while. */
  isProbed(): boolean;
  /** The upstream is known to work again. Ends its rest after failures, however long that was. */
  revive(): void;
  /** Call this only after `canEnter`. A pass is given back once, with the outcome. */
  enter(pause: Rest): Pass;
  /** The answer has begun, however long it will take: the upstream is alive. */
  noteFirstEvent(pass: Pass): void;
  /** `ignored` says nothing about the upstream. */
  leave(pass: Pass, outcome: Outcome, retryAfterMs?: number): void;
}

interface HealthOptions {
  readonly clock: Clock;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
}

export function createHealth({ clock, random }: HealthOptions): Health {
  const window = createFailureWindow(clock);
  const rest = createRest(clock);
  const turn = createProbeTurn(clock);
  let isOpen = false;
  let epoch = 0;
  let closedMs = Number.NEGATIVE_INFINITY;
  let openingsInRow = 0;
  let failuresInRow = 0;
  let failingSinceMs = 0;

  const change = (open: boolean) => {
    isOpen = open;
    turn.end();
    epoch += 1;
    failuresInRow = 0;
    window.clear();
  };
  const open = (leastMs: number) => {
    const isCalm = !isOpen && clock.nowMs() - closedMs >= FAILURE_WINDOW_MS;
    openingsInRow = isCalm ? 1 : openingsInRow + 1;
    change(true);
    rest.extendTo(Math.max(leastMs, pauseMsAfter(openingsInRow) * (0.5 + random() / 2)));
  };
  const close = () => {
    change(false);
    closedMs = clock.nowMs();
  };

  const countFailure = (pass: Pass) => {
    if (failuresInRow === 0) failingSinceMs = clock.nowMs();
    failuresInRow += 1;
    window.add({ calls: pass.hasAnswered ? 0 : 1, failures: 1 });
    const isFailingLong =
      failuresInRow >= FAILING_CALLS_MIN && clock.nowMs() - failingSinceMs >= FAILING_MAX_MS;
    if (failuresInRow >= FAILURES_IN_ROW_MAX || isFailingLong || window.isMostlyFailing()) open(0);
  };

  const noteFirstEvent = (pass: Pass) => {
    if (pass.epoch !== epoch || pass.hasAnswered) return;
    pass.hasAnswered = true;
    if (isOpen) close();
    failuresInRow = 0;
    window.add({ calls: 1, failures: 0 });
  };

  return {
    state: () => (!isOpen ? 'closed' : rest.leftMs() > 0 ? 'open' : 'half-open'),
    restMs: rest.leftMs,
    canEnter: () => !turn.isTaken() && rest.leftMs() === 0,
    isProbed: turn.isPending,
    revive() {
      if (isOpen) close();
      rest.end();
    },
    enter(pause) {
      const pass = { epoch, pause, hasAnswered: false };
      if (isOpen) turn.take(pass);
      return pass;
    },
    noteFirstEvent,
    leave(pass, outcome, retryAfterMs = 0) {
      if (pass.epoch !== epoch) return;
      if (outcome === 'ok') noteFirstEvent(pass);
      else if (outcome === 'ignored') turn.giveBack(pass);
      else if (isOpen) open(retryAfterMs);
      else if (outcome === 'overloaded' && retryAfterMs > 0) pass.pause.extendTo(retryAfterMs);
      else countFailure(pass);
    },
  };
}

function pauseMsAfter(openingsInRow: number): number {
  return Math.min(PAUSE_MS * 2 ** (openingsInRow - 1), PAUSE_MAX_MS);
}
