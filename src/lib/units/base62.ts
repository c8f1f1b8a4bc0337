/**
 * The digits of all random texts that people may have to copy: a double click selects the whole
 * text.
 */
export const BASE62_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 in a byte. Higher values would make the first digits likelier. */
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

/** NaN if a character is not a digit. */
export function decodeBase62(text: string): number {
  let value = 0;
  for (const char of text) {
    const digit = BASE62_DIGITS.indexOf(char);
    if (digit === -1) return Number.NaN;
    value = value * BASE62_DIGITS.length + digit;
  }
  return value;
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
