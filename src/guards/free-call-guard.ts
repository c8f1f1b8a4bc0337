import { createMinuteLimiter } from './minute-limiter.ts';

export interface FreeCallGuard {
  /** Resolves with the milliseconds to wait; 0 if the call may go on. */
  take(digest: string): Promise<number>;
}

/**
 * For calls that cost no credits and count against no plan. It counts before anybody has said that
 * the key is right, so it goes by the digest of the key: others may know its id.
 */
export function createFreeCallGuard(limits: { readonly perMinuteMax: number }): FreeCallGuard {
  const limiter = createMinuteLimiter(limits);
  return { take: limiter.take };
}
