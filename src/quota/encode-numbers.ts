import { assertAmount } from './assert-amount.ts';

const DOUBLE_BYTES = 8;

/** One argument instead of many: each costs Redis 1,700 instructions, and all the doubles of one together 2,300. */
export function encodeNumbers(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * DOUBLE_BYTES);
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] ?? Number.NaN;
    assertAmount(number);
    bytes.writeDoubleLE(number, i * DOUBLE_BYTES);
  }
  return bytes;
}
