import type { Clock } from '../lib/time/clock.ts';

export interface RedisClock extends Clock {
  /** Takes the time that Redis has just reported. */
  correct(nowMs: number): void;
}

/**
 * The clock of Redis as this node knows it, so that the nodes need not agree about the time.
 * Until Redis has reported its time, it is the clock of this machine.
 */
export function createRedisClock(clock: Clock): RedisClock {
  let offsetMs = clock.nowMs() - performance.now();
  return {
    nowMs: () => performance.now() + offsetMs,
    correct(nowMs) {
      offsetMs = nowMs - performance.now();
    },
  };
}
