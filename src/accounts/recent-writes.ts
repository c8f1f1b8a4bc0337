import type { Clock } from '../lib/time/clock.ts';

const KEPT_MS = 600_000;
const RECENT_WRITES_MAX = 10_000;

export interface RecentWrites {
  add(repeat: () => Promise<unknown>): void;
  /** Repeats the writes in order. Stops at the first one that fails. */
  repeat(): Promise<void>;
}

/**
 * Writes that Redis has acknowledged and a failover may still lose. Repeating a write that is not
 * lost changes nothing.
 */
export function createRecentWrites(clock: Clock): RecentWrites {
  let writes: { readonly repeat: () => Promise<unknown>; readonly addedMs: number }[] = [];

  const dropOld = () => {
    const nowMs = clock.nowMs();
    writes = writes.filter(({ addedMs }) => nowMs - addedMs < KEPT_MS).slice(-RECENT_WRITES_MAX);
  };

  return {
    add(repeat) {
      writes.push({ repeat, addedMs: clock.nowMs() });
      dropOld();
    },
    async repeat() {
      dropOld();
      for (const { repeat } of writes) await repeat();
    },
  };
}
