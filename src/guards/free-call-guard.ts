import { createMinuteLimiter } from './minute-limiter.ts';

export interface FreeCallGuard {
  /** Resolves with the milliseconds to wait; 0 if the call may proceed. */
  take(digest: string): Promise<number>;
}

/**
 * For calls that cost no credits and count against no plan. It counts before the key is known to
 * be good, so it goes by the digest of the key: others may know its id.
 */
export function createFreeCallGuard(limits: { readonly perMinuteMax: number }): FreeCallGuard {
  const limiter = createMinuteLimiter(limits);
  return { take: limiter.take };
}
