/** Keeps retries from multiplying an outage: in all there are at most `share` of the first tries, and `burstMax`. */
export interface RetryBudget {
  noteFirstTry(): void;
  /** Whether there may be one more try. */
  takeRetry(): boolean;
}

interface RetryBudgetOptions {
  /** Of the first tries, from 0 to 1. */
  readonly share: number;
  /** What can be saved up, and is there at the start. */
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
