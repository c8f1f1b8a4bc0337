import { createMinuteLimiter } from './minute-limiter.ts';

export interface RecallGuard {
  /** Resolves with the milliseconds to wait; 0 if what the request refers to may be read. */
  take(digest: string): Promise<number>;
  /** Call it for each request of the key that was read and then admitted. */
  noteAdmitted(digest: string): void;
}

/**
 * A few bytes may refer to megabytes, which are read before it is known whether the request is
 * admitted. So a key may have only so many of these requests refused in a minute. The guard goes
 * by the digest of the key, since others may know its id.
 */
export function createRecallGuard(limits: { readonly perMinuteMax: number }): RecallGuard {
  const limiter = createMinuteLimiter(limits);
  return { take: limiter.take, noteAdmitted: limiter.giveBack };
}
