/**
 * Keeps retries from multiplying an outage: in all there are at most `share` retries for each first
 * try, plus `burstMax`.
 */
export interface RetryBudget {
  noteFirstTry(): void;
  /** Whether there may be one more try. */
  takeRetry(): boolean;
}

interface RetryBudgetOptions {
  /** Retries for each first try, from 0 to 1. */
  readonly share: number;
  /** How many retries can be saved up. That many are there at the start. */
  readonly burstMax: number;
}

export function createRetryBudget({ share, burstMax }: RetryBudgetOptions): RetryBudget {
  let retries = burstMax;
  return {
    noteFirstTry() {
      retries = Math.min(retries + share, burstMax);
    },
    takeRetry() {
      if (retries < 1) return false;
      retries -= 1;
      return true;
    },
  };
}
