import type { RateLimiterRes } from 'rate-limiter-flexible';
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';

/** About 5 MB when all are in use. */
const KEYS_MAX = 10_000;
/** At once: a Map finds its first key slowly after many before it were deleted. */
const KEYS_DROPPED = 100;
const MINUTE_SECONDS = 60;

/** A limit of one worker alone; a key's minute begins with the first that it does. */
export interface MinuteLimiter {
  /** Milliseconds until the key may go on; 0 is now. */
  waitMs(key: string): number;
  count(key: string): void;
  /** Counts, unless the key has to wait; answers like `waitMs`. */
  take(key: string): number;
}

/** Where RateLimiterMemory keeps its counts; its types do not show it. */
interface MemoryStorage {
  readonly _storage: ReadonlyMap<string, unknown>;
  get(key: string): RateLimiterRes | null;
}

/**
 * RateLimiterMemory counts at once but answers in promises, too late for the other requests that run before
 * the promise does: when Redis goes out, all that wait for it go on together. So its counts are read where it
 * keeps them. It drops a count by a timer when its minute is over. What it does not have is a limit of keys:
 * beyond `KEYS_MAX` the oldest minutes, the next to end anyhow, are dropped for new ones.
 */
export function createMinuteLimiter({
  perMinuteMax,
}: {
  readonly perMinuteMax: number;
}): MinuteLimiter {
  const limiter = new RateLimiterMemory({
    keyPrefix: '',
    points: perMinuteMax,
    duration: MINUTE_SECONDS,
  });
  const storage = (limiter as unknown as { readonly _memoryStorage: MemoryStorage })._memoryStorage;

  const waitMs = (key: string) => {
    const counted = storage.get(key);
    if (counted === null || counted.consumedPoints < perMinuteMax) return 0;
    return Math.max(0, counted.msBeforeNext);
  };

  const dropOldest = () => {
    let left = KEYS_DROPPED;
    for (const key of storage._storage.keys()) {
      if (left === 0) return;
      void limiter.delete(key);
      left -= 1;
    }
  };

  const count = (key: string) => {
    if (storage._storage.size >= KEYS_MAX && !storage._storage.has(key)) dropOldest();
    void limiter.penalty(key);
  };

  return {
    waitMs,
    count,
    take(key) {
      const ms = waitMs(key);
      if (ms === 0) count(key);
      return ms;
    },
  };
}
