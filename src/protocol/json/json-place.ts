import * as ascii from '../../lib/bytes/ascii.ts';
import { countBackslashes, findStringEnd } from './find-string-end.ts';

const { BACKSLASH, CLOSING_BRACE, CLOSING_BRACKET, OPENING_BRACE, OPENING_BRACKET, QUOTE } = ascii;

/** No honest request is nested deeper, so later code may walk a body by recursion. */
export const JSON_DEPTH_MAX = 128;
/** Answers repeat what was asked, in objects around it. */
export const ANSWER_DEPTH_MAX = JSON_DEPTH_MAX + 4;
/**
 * V8 hashes a string of more than 16,383 characters by its length alone, so parsing many names of
 * one such length takes time that grows with the square of their number.
 */
export const JSON_NAME_BYTES_MAX = 16_000;
/**
 * The lists, objects and members of objects in a request. An empty list takes two bytes as JSON
 * and many times that in memory. A conversation of 100,000 objects has some 450,000.
 */
export const JSON_PARTS_MAX = 1_000_000;
/** In an answer; one of 32 MiB with all tokens that were likely has fewer. */
export const ANSWER_PARTS_MAX = 2_500_000;
/** The members of a request itself. Several steps look at each of them. */
export const JSON_FIELDS_MAX = 1_000;
export interface JsonBounds {
  readonly depthMax: number;
  readonly partsMax: number;
}
export const REQUEST_BOUNDS: JsonBounds = { depthMax: JSON_DEPTH_MAX, partsMax: JSON_PARTS_MAX };
export const ANSWER_BOUNDS: JsonBounds = {
  depthMax: ANSWER_DEPTH_MAX,
  partsMax: ANSWER_PARTS_MAX,
};
/** The bound that a JSON text exceeds: that of its depth, of a name, or of its parts. */
export type JsonExcess = 'depth' | 'name' | 'parts';

/**
 * Tracks the place of a walk through JSON, byte by byte. The JSON may be cut into pieces anywhere.
 */
export class JsonPlace {
  depth = 0;
  isInString = false;
  #isEscaped = false;

  pass(code: number): void {
    if (this.isInString) this.#passInString(code);
    else if (code === QUOTE) this.isInString = true;
    else if (code === OPENING_BRACE || code === OPENING_BRACKET) this.depth += 1;
    else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) this.depth -= 1;
  }

  /**
   * Skips the rest of the string that the walk is in, up to its closing quote or the end of the
   * bytes. Returns the last place that it passed.
   */
  passString(bytes: Buffer, start: number): number {
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return start;
    }
    const end = findStringEnd(bytes, start);
    if (end < bytes.length) {
      this.isInString = false;
      return end;
    }
    this.#isEscaped = countBackslashes(bytes, start, bytes.length) % 2 === 1;
    return bytes.length - 1;
  }

  #passInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.isInString = false;
  }
}
