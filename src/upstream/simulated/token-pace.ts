import type { StopSignal } from '../../lib/time/stop-signal.ts';
import { giveWay, wait } from '../../timers/wait.ts';

/** An answer that never pauses would keep the process from noticing that the client has left. */
const TOKENS_WITHOUT_PAUSE_MAX = 64;

/** Awaited before each token. */
export type TokenPace = (signal: StopSignal) => Promise<void>;

/**
 * Each token has its time, counted from the start of the answer: timers are some milliseconds
 * late, and these delays must not add up.
 */
export function createTokenPace(tokenDelayMs: number): TokenPace {
  const startedMs = performance.now();
  let tokens = 0;
  return async (signal) => {
    tokens += 1;
    const earlyMs = startedMs + tokens * tokenDelayMs - performance.now();
    if (earlyMs >= 1) await wait(earlyMs, signal);
    else if (tokens % TOKENS_WITHOUT_PAUSE_MAX === 0) await giveWay(signal);
    else signal.throwIfAborted();
  };
}
