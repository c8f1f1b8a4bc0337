import { asBuffer } from '../../lib/bytes/as-buffer.ts';
import { BACKSLASH, DELETE, DIGIT_NINE, DIGIT_ZERO, QUOTE, SPACE } from '../../lib/bytes/ascii.ts';

/**
 * What differs in each frame, apart from the text: the number of the event, which is one more each
 * time, and padding that nobody reads.
 */
export interface FrameGap {
  readonly start: number;
  readonly end: number;
  readonly isNumber: boolean;
}

export const NO_GAPS: readonly FrameGap[] = [];
const NUMBER = Buffer.from('"sequence_number":');
const PADDING = Buffer.from('"obfuscation":"');
/** All of them are safe integers. */
const DIGITS_MAX = 15;

export function findGaps(frame: Uint8Array, from: number, to: number): readonly FrameGap[] {
  const bytes = asBuffer(frame).subarray(0, to);
  const gaps: FrameGap[] = [];
  for (const [name, isNumber] of [
    [NUMBER, true],
    [PADDING, false],
  ] as const) {
    const at = bytes.indexOf(name, from);
    if (at === -1) continue;
    let start = at + name.length;
    while (isNumber && bytes[start] === SPACE) start += 1;
    gaps.push({ start, end: skipGap(bytes, start, isNumber), isNumber });
  }
  if (gaps.length === 0 || gaps.some(({ start, end }) => end <= start)) return NO_GAPS;
  return gaps.sort((one, other) => one.start - other.start);
}

/** Returns the end of the digits, or of the plain characters, from `start` on. */
export function skipGap(bytes: Uint8Array, start: number, isNumber: boolean): number {
  let at = start;
  if (!isNumber) {
    while (isPlainChar(bytes[at])) at += 1;
    return at;
  }
  if (bytes[start] === DIGIT_ZERO) return start + 1;
  while (isDigit(bytes[at]) && at - start < DIGITS_MAX) at += 1;
  return at;
}

export function readNumber(bytes: Uint8Array, start: number, end: number): number {
  let number = 0;
  for (let i = start; i < end; i++) number = number * 10 + ((bytes[i] ?? 0) - DIGIT_ZERO);
  return number;
}

const isDigit = (byte = 0) => byte >= DIGIT_ZERO && byte <= DIGIT_NINE;
const isPlainChar = (byte = 0) =>
  byte >= SPACE && byte < DELETE && byte !== QUOTE && byte !== BACKSLASH;
