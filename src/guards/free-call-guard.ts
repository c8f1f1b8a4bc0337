import { createMinuteLimiter } from './minute-limiter.ts';

export interface FreeCallGuard {
  /** Resolves with the milliseconds to wait; 0 if the call may go on. */
  take(keyId: string): Promise<number>;
}

/** For calls that cost no credits and count against no plan. */
export function createFreeCallGuard(limits: { readonly perMinuteMax: number }): FreeCallGuard {
  const limiter = createMinuteLimiter(limits);
  return { take: (keyId) => limiter.take(keyId) };
}
