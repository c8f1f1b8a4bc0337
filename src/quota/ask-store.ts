import { setTimeout as sleep } from 'node:timers/promises';
import { backOff } from '../lib/time/back-off.ts';
import { Refusal } from '../protocol/refusals.ts';
import { type Breaker, callThrough } from '../redis/breaker.ts';
import { classifyRedisError } from '../redis/classify-redis-error.ts';

/**
 * The longest that a caller waits for an unreachable store, from the first attempt to the refusal.
 */
const BUDGET_MS = 1_500;
const RETRY_DELAYS = { firstMs: 50, maxMs: 400 };
/** Waiting callers in each worker. Any further caller is refused at once. */
const WAITING_MAX = 200;
const RETRY_AFTER_MAX_S = 5;

export type AskStore = <Reply>(bucket: number, ask: () => Promise<Reply>) => Promise<Reply>;

interface AskStoreOptions {
  readonly breakerOf: (bucket: number) => Breaker;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
}

/**
 * Asks the store for what a request cannot continue without. Repeats the same call while the
 * store is unreachable, within a time budget. Then it refuses the request: a gateway that cannot
 * count admits nobody.
 */
export function createAskStore({ breakerOf, random }: AskStoreOptions): AskStore {
  let waiting = 0;

  const waitForStore = async (attempt: number, deadlineMs: number): Promise<boolean> => {
    const delayMs = backOff(attempt, RETRY_DELAYS, random);
    if (waiting >= WAITING_MAX || performance.now() + delayMs >= deadlineMs) return false;
    waiting++;
    await sleep(delayMs);
    waiting--;
    return true;
  };

  return async (bucket, ask) => {
    const deadlineMs = performance.now() + BUDGET_MS;
    for (let attempt = 0; ; attempt++) {
      try {
        return await callThrough(breakerOf(bucket), ask);
      } catch (error) {
        if (classifyRedisError(error) === 'fault') throw error;
        if (!(await waitForStore(attempt, deadlineMs))) throw refuseStoreOut(random, error);
      }
    }
  };
}

function refuseStoreOut(random: () => number, cause: unknown): Refusal {
  const refusal = new Refusal(
    'unavailable',
    'The gateway cannot reach its store of keys and credits at the moment. Nothing was charged.',
    { headers: { 'retry-after': String(1 + Math.floor(random() * RETRY_AFTER_MAX_S)) } },
  );
  refusal.cause = cause;
  return refusal;
}
