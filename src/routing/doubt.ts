import type { Clock } from '../lib/time/clock.ts';
import { createRest } from './rest.ts';

/** How long another upstream comes first after one that has denied a request. */
const DOUBT_MS = 5_000;

/**
 * Whether an upstream may not serve a model at all. A single request can be denied for what is in
 * it, so an upstream that serves others is not in doubt.
 */
export interface Doubt {
  isOver(): boolean;
  noteDenied(): void;
  noteServed(): void;
}

export function createDoubt(clock: Clock): Doubt {
  const rest = createRest(clock);
  let servedMs = Number.NEGATIVE_INFINITY;

  return {
    isOver: () => rest.leftMs() === 0,
    noteDenied() {
      const sinceMs = clock.nowMs() - servedMs;
      // A clock that is set back must not end all doubts.
      const hasJustServed = sinceMs >= 0 && sinceMs < DOUBT_MS;
      if (!hasJustServed) rest.extendTo(DOUBT_MS);
    },
    noteServed() {
      servedMs = clock.nowMs();
      rest.end();
    },
  };
}
