/** The digits of everything random that people may have to copy: a double click selects all of them. */
export const BASE62_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const NO_DIGIT = -1;
const DIGIT_VALUES = Int8Array.from({ length: 128 }, (_, code) =>
  BASE62_DIGITS.indexOf(String.fromCharCode(code)),
);
/** The largest multiple of 62 in a byte: what lies above would make the first digits likelier. */
const FAIR_BYTE_MAX = 248;

export type RandomBytes = (count: number) => Uint8Array;

/** The last `width` digits of a whole number. */
export function encodeBase62(value: number, width: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < width; i++) {
    text = (BASE62_DIGITS[rest % BASE62_DIGITS.length] ?? '') + text;
    rest = Math.floor(rest / BASE62_DIGITS.length);
  }
  return text;
}

/** NaN when a character is no digit. */
export function decodeBase62(text: string): number {
  const { length } = text;
  return isBase62Between(text, 0, length) ? decodeBase62Between(text, 0, length) : Number.NaN;
}

/** Of digits; what else the text has does not matter. */
export function decodeBase62Between(text: string, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    value = value * BASE62_DIGITS.length + (DIGIT_VALUES[text.charCodeAt(i)] ?? NO_DIGIT);
  }
  return value;
}

export function isBase62Between(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if ((DIGIT_VALUES[text.charCodeAt(i)] ?? NO_DIGIT) === NO_DIGIT) return false;
  }
  return true;
}

export function randomBase62(width: number, randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < width) {
    for (const byte of randomBytes(width)) {
      if (byte < FAIR_BYTE_MAX && text.length < width)
        text += BASE62_DIGITS[byte % BASE62_DIGITS.length];
    }
  }
  return text;
}
