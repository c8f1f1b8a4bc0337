import type { Clock } from '../lib/time/clock.ts';

/**
 * An answer that is not a stream has its first event when it is complete, which can take minutes.
 * Nobody else should wait so long for what a probe shows.
 */
const ALONE_MAX_MS = 2_000;

/** Whose turn it is to probe an upstream. */
export interface ProbeTurn {
  isTaken(): boolean;
  /** Whether a probe has shown nothing yet, however long it has been on its way. */
  isPending(): boolean;
  /** The new probe keeps others away, and no longer the one before. */
  take(probe: object): void;
  /** Does nothing if it is another's turn. */
  giveBack(probe: object): void;
  end(): void;
}

export function createProbeTurn(clock: Clock): ProbeTurn {
  let current: object | undefined;
  let sinceMs = 0;

  return {
    isTaken() {
      if (current === undefined) return false;
      const aloneMs = clock.nowMs() - sinceMs;
      // A clock that is set back must not make a turn longer.
      return aloneMs >= 0 && aloneMs < ALONE_MAX_MS;
    },
    isPending: () => current !== undefined,
    take(probe) {
      current = probe;
      sinceMs = clock.nowMs();
    },
    giveBack(probe) {
      if (current === probe) current = undefined;
    },
    end() {
      current = undefined;
    },
  };
}
