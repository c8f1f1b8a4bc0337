import { assert } from '../lib/assert.ts';

const DOUBLE_BYTES = 8;

/** One argument instead of many, each of which costs Redis as much as all the doubles in it. */
export function encodeNumbers(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * DOUBLE_BYTES);
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] ?? Number.NaN;
    if (!Number.isSafeInteger(number)) assert(false, `safe integer, got ${number}`);
    bytes.writeDoubleLE(number, i * DOUBLE_BYTES);
  }
  return bytes;
}
