import type { Clock } from './clock.ts';

/** After this long without a master the clock runs on, so that waits for a master are bounded. */
const OUTAGE_MAX_MS = 1_800_000;

export interface MasterClock extends Clock {
  /** The masters have answered, and are the same as they were this many milliseconds ago. */
  noteSame(elapsedMs: number): void;
}

/**
 * Stands still while a master is away. What a master that takes over may lack was acknowledged
 * before the old one was last seen, however long it takes until another one takes over.
 */
export function createMasterClock(clock: Clock): MasterClock {
  let servedMs = 0;
  let seenAtMs = clock.nowMs();
  const nowMs = () => servedMs + Math.max(0, clock.nowMs() - seenAtMs - OUTAGE_MAX_MS);
  return {
    nowMs,
    noteSame(elapsedMs) {
      servedMs = nowMs() + elapsedMs;
      seenAtMs = clock.nowMs();
    },
  };
}
