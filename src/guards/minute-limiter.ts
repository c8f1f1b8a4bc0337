import type { RateLimiterRes } from 'rate-limiter-flexible';
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';

/** About 5 MB when all are in use. */
const KEYS_MAX = 10_000;
/**
 * Keys dropped at once, because a Set finds its first key slowly if many before it have been
 * deleted.
 */
const KEYS_DROPPED = 100;
const MINUTE_SECONDS = 60;

/** A limit of one worker alone. The minute of a key begins with its first call. */
export interface MinuteLimiter {
  /**
   * Counts one more call, or this amount, before it returns. Resolves with the milliseconds until
   * the key may continue; 0 is now.
   */
  take(key: string, amount?: number): Promise<number>;
  /** Takes this amount back from the count of the key, if its minute has begun. */
  giveBack(key: string, amount?: number): void;
}

/**
 * RateLimiterMemory counts, and uses a timer to forget a key when its minute is over. It does not
 * limit the number of keys. So the keys are also kept here, in the order in which their minutes
 * began. Beyond `KEYS_MAX` the oldest are dropped for new ones.
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
  const begun = new Set<string>();

  const noteBegun = (key: string) => {
    begun.delete(key);
    begun.add(key);
    if (begun.size > KEYS_MAX) dropOldest();
  };

  const dropOldest = () => {
    let left = KEYS_DROPPED;
    for (const key of begun) {
      if (left === 0) return;
      begun.delete(key);
      void limiter.delete(key);
      left -= 1;
    }
  };

  return {
    async take(key, amount) {
      // The limiter refuses by rejecting with the same kind of result.
      const counting = limiter.consume(key, amount).catch((refused: RateLimiterRes) => refused);
      const { consumedPoints, msBeforeNext, isFirstInDuration } = await counting;
      if (isFirstInDuration) noteBegun(key);
      return consumedPoints > perMinuteMax ? Math.max(0, msBeforeNext) : 0;
    },
    giveBack(key, amount) {
      if (begun.has(key)) void limiter.reward(key, amount);
    },
  };
}
