import { assertAmount } from './assert-amount.ts';

const DOUBLE_BYTES = 8;

/**
 * Packs many numbers into one argument. Each argument costs Redis 1,700 instructions, while all
 * doubles packed into one argument cost 2,300 together.
 */
export function encodeNumbers(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * DOUBLE_BYTES);
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] ?? Number.NaN;
    assertAmount(number);
    bytes.writeDoubleLE(number, i * DOUBLE_BYTES);
  }
  return bytes;
}
