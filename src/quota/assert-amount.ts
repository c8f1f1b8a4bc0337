import { assert } from '../lib/assert.ts';

/** The same check as `is_amount` in `lua/numbers.lua`, which refuses what other nodes send. */
export function assertAmount(number: number): void {
  if (!Number.isSafeInteger(number) || number < 0) assert(false, `a whole amount, got ${number}`);
}
