import { createMinuteLimiter } from './minute-limiter.ts';

export interface UnpaidBodyGuard {
  /** Resolves with the milliseconds to wait; 0 if the body may be read. */
  take(owner: string, bytes: number): Promise<number>;
  /** Call it for each request whose body was taken and that was then admitted. */
  noteAdmitted(owner: string, bytes: number): void;
}

/**
 * A large body takes long to read, and a request that is refused costs its sender nothing. So
 * only so many bytes of an owner may be read in a minute for requests that are not admitted.
 */
export function createUnpaidBodyGuard(limits: {
  readonly bytesPerMinuteMax: number;
}): UnpaidBodyGuard {
  const limiter = createMinuteLimiter({ perMinuteMax: limits.bytesPerMinuteMax });
  return { take: limiter.take, noteAdmitted: limiter.giveBack };
}
