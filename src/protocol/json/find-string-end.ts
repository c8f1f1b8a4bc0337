import * as ascii from '../../lib/bytes/ascii.ts';

const { BACKSLASH, QUOTE } = ascii;

/** A search by the engine costs as much as reading this many bytes one by one. */
const SHORT_BYTES_MAX = 48;

/**
 * Returns the place of the quote that ends the string, or the end of the bytes if there is none.
 */
export function findStringEnd(bytes: Buffer, start: number): number {
  let i = start;
  while (i < bytes.length) {
    const shortEnd = Math.min(i + SHORT_BYTES_MAX, bytes.length);
    for (; i < shortEnd; i++) {
      const byte = bytes[i];
      if (byte === QUOTE) return i;
      if (byte === BACKSLASH) i += 1;
    }
    if (i >= bytes.length) break;
    const quote = bytes.indexOf(QUOTE, i);
    if (quote === -1) break;
    const first = countBackslashes(bytes, i, quote);
    if (first % 2 === 0) return quote;
    i = quote + 1;
  }
  return bytes.length;
}

/** Counts the backslashes right before `end`. */
export function countBackslashes(bytes: Buffer, start: number, end: number): number {
  let first = end;
  while (first > start && bytes[first - 1] === BACKSLASH) first -= 1;
  return end - first;
}

/** Does the same as `findStringEnd` in a decoded text. */
export function findTextEnd(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end !== -1 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, start: number, quote: number): boolean {
  let first = quote;
  while (first > start && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}
