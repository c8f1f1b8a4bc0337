import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../lib/time/clock.ts';
import { DirectoryError } from './directory-error.ts';

const KEPT_MS = 600_000;
const RECENT_WRITES_MAX = 10_000;
/** Nodes learn of a change of masters about once a second, and later if they must reconnect. */
const OTHERS_WAIT_MAX_MS = 5_000;
const OTHERS_WAIT_DELAY_MS = 100;

/** What a repeat returns if another node has to repeat a write of its own before. */
export const TOO_EARLY = Symbol('too early');

/** With `isLast`, nobody waits for others any more. */
type RepeatWrite = (isLast: boolean) => Promise<unknown>;

/** Resolves with the errors of those writes that would fail again. */
export type RepeatWrites = () => Promise<readonly unknown[]>;

export interface RecentWrites {
  add(repeat: RepeatWrite): void;
  /**
   * Repeats the writes in order. Those that are too early are tried again after the others, until
   * they have waited long enough. Rejects at once while Redis is out.
   */
  repeat: RepeatWrites;
}

/**
 * Writes that Redis has acknowledged and a failover may still lose. Repeating a write that is not
 * lost changes nothing. The clock must stand still while a master is away.
 */
export function createRecentWrites(clock: Clock): RecentWrites {
  let writes: { readonly repeat: RepeatWrite; readonly addedMs: number }[] = [];

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
      const deadlineMs = performance.now() + OTHERS_WAIT_MAX_MS;
      const faults: unknown[] = [];
      const noteFault = (error: unknown) => {
        if (error instanceof DirectoryError) throw error;
        faults.push(error);
      };
      let left = writes;
      for (;;) {
        const isLast = performance.now() >= deadlineMs;
        const early: typeof writes = [];
        for (const write of left) {
          const outcome = await write.repeat(isLast).catch(noteFault);
          if (outcome === TOO_EARLY) early.push(write);
        }
        if (isLast || early.length === 0) return faults;
        left = early;
        await sleep(OTHERS_WAIT_DELAY_MS, undefined, { ref: false });
      }
    },
  };
}
