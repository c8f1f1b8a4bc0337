import * as ascii from '../../../lib/bytes/ascii.ts';

const { CR, LF, OPENING_BRACE, OPENING_BRACKET, QUOTE } = ascii;

const BEGINNING = encode('data:');
const CHOICES = encode('"choices":');

/**
 * Returns what follows the name `choices` in the frame of one chunk, including the empty line.
 * Returns `undefined` if only a parser can find it, after nested values or across several lines.
 */
export function cutAtChoices(frame: Uint8Array): Uint8Array | undefined {
  if (!hasAt(frame, 0, BEGINNING) || frame.at(-1) !== LF) return undefined;
  let isInside = false;
  for (let i = BEGINNING.length; i < frame.length; i++) {
    const byte = frame[i];
    if (byte === LF || byte === CR) return undefined;
    if (byte === QUOTE && hasAt(frame, i, CHOICES)) {
      return hasOneLine(frame, i) ? frame.subarray(i + CHOICES.length) : undefined;
    }
    if (byte === OPENING_BRACE || byte === OPENING_BRACKET) {
      if (isInside) return undefined;
      isInside = true;
    }
  }
  return undefined;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function hasAt(bytes: Uint8Array, start: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[start + i] !== wanted[i]) return false;
  return true;
}

/** Whether the frame ends in two line feeds and has no other. */
function hasOneLine(frame: Uint8Array, start: number): boolean {
  return frame.indexOf(LF, start) === frame.length - 2;
}
