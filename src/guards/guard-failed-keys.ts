import { createMinuteLimiter } from './create-minute-limiter.ts';

export interface FailedKeyGuard {
  /** 0 when the address may try a key. */
  retryAfterMs(address: string): number;
  noteFailure(address: string): void;
}

/** Slows down whoever tries out keys. It counts failures only: clients with good keys never wait for it. */
export function createFailedKeyGuard(limits: { readonly perMinuteMax: number }): FailedKeyGuard {
  const limiter = createMinuteLimiter(limits);
  return {
    retryAfterMs: (address) => limiter.waitMs(address),
    noteFailure: (address) => limiter.count(address),
  };
}
