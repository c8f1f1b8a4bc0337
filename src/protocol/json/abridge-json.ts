/**
 * FAST TWIN of `src/protocol/json/parse-json-body.ts`.
 * Held equal by `test/unit/protocol/json/abridge-json.test.ts`.
 * Gain: 1,880 to 490 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import * as ascii from '../../lib/bytes/ascii.ts';
import { isObject } from '../schema.ts';
import { canFindMarks } from '../sse/find-marks.ts';
import { JSON_DEPTH_MAX } from './json-place.ts';
import type { JsonBody } from './parse-json-body.ts';
import { JsonStringReader } from './read-json-string.ts';
import type { JsonMember } from './scan-json.ts';
import { parseJson } from './upstream-json.ts';

const {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  LETTER_U,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
  SPACE,
} = ascii;

/** Where texts may be left out. */
export interface Abridgment {
  /** In the members of these names. */
  readonly members: ReadonlySet<string>;
  /** Not at all where one of these names stands in them. */
  readonly wholeNames: ReadonlySet<string>;
}

/** Fields whose text is looked at itself: it may have so many characters only, or some of them. */
export const READ_FIELDS: ReadonlySet<string> = new Set(['id', 'tool_use_id', 'name', 'title']);

/** Below this, reading a text costs less than leaving it out. */
const LONG_TEXT_BYTES_MIN = 512;
/** Above this a length may be too much for a field, which is for those to say who know the length. */
const LONG_TEXT_BYTES_MAX = 4 * 1024 ** 2;
/** So near to its beginning a text has to show that it is more than white space. */
const VISIBLE_WITHIN_BYTES = 64;

/**
 * Reads a JSON object with stand-ins for its long texts. The value is whole but for them: each stands for a text that is
 * good JSON, is no more blank than it, and ends as it does; equal ones stand for texts of one length. `undefined` where
 * all has to be read, be it to say what is wrong. The bytes are UTF-8.
 */
export function abridgeJson(bytes: Buffer, abridgment: Abridgment): JsonBody | undefined {
  if (!canFindMarks()) return undefined;
  const abridger = new Abridger(bytes, abridgment);
  const members = abridger.walk();
  if (members === undefined) return undefined;
  const value = parseJson(abridger.finish());
  if (!isObject(value)) return undefined;
  const hasPlainNames = members.every(({ name }) => !name.includes('\\'));
  const { longTexts, memberCount } = abridger;
  return { value, bytes, members, hasPlainNames, memberCount, longTexts };
}

class Abridger {
  readonly longTexts = new Map<string, number>();
  memberCount = 0;
  readonly #bytes: Buffer;
  readonly #abridgment: Abridgment;
  readonly #strings: JsonStringReader;
  readonly #members: JsonMember[] = [];
  #depth = 0;
  #depthMax = 0;
  /** Of the member that is walked through, whose value begins at -1 until its colon is found. */
  #name = '';
  #nameStart = 0;
  #valueStart = -1;
  #isAbridged = false;
  #hasWholeName = false;
  #abridged = '';
  #copiedEnd = 0;
  /** Of the string before. */
  #beforeStart = 0;
  #beforeEnd = 0;

  constructor(bytes: Buffer, abridgment: Abridgment) {
    this.#bytes = bytes;
    this.#abridgment = abridgment;
    this.#strings = new JsonStringReader(bytes);
  }

  /**
   * Where the members stand, as `scanJson` finds them, which takes half the time for small bodies; undefined where the
   * whole has to be read.
   */
  walk(): JsonMember[] | undefined {
    for (let at = 0; at < this.#bytes.length; at++) {
      const mark = this.#strings.next();
      this.#passStructure(at, mark);
      at = this.#bytes[mark] === QUOTE ? this.#passString(mark) : mark;
      if (this.#depthMax > JSON_DEPTH_MAX || this.#hasWholeName) return undefined;
      if (this.#strings.hasGivenUp()) return undefined;
    }
    return this.#members;
  }

  /** What is outside of strings. */
  #passStructure(start: number, end: number): void {
    for (let at = start; at < end; at++) {
      switch (this.#bytes[at]) {
        case OPENING_BRACE:
        case OPENING_BRACKET:
          this.#depth += 1;
          this.#depthMax = Math.max(this.#depth, this.#depthMax);
          break;
        case CLOSING_BRACE:
        case CLOSING_BRACKET:
          if (this.#depth === 1) this.#endMember(at);
          this.#depth -= 1;
          break;
        case COMMA:
          if (this.#depth === 1) this.#endMember(at);
          break;
        case COLON:
          this.memberCount += 1;
          if (this.#depth === 1) this.#beginValue(at + 1);
      }
    }
  }

  #beginValue(start: number): void {
    this.#valueStart = start;
    this.#isAbridged = this.#abridgment.members.has(this.#name);
  }

  #endMember(end: number): void {
    const valueStart = this.#valueStart;
    if (valueStart !== -1) {
      this.#members.push({ name: this.#name, start: this.#nameStart, valueStart, end });
    }
    this.#valueStart = -1;
  }

  /** Answers with the quote at its end. */
  #passString(quote: number): number {
    const end = this.#strings.readOn(quote);
    if (this.#valueStart === -1) {
      this.#nameStart = quote;
      this.#name = this.#bytes.toString('latin1', quote + 1, end);
    } else if (this.#isAbridged) {
      if (end - quote > LONG_TEXT_BYTES_MIN) this.#leaveOut(quote + 1, end);
      else this.#hasWholeName ||= this.#isWholeName(quote + 1, end);
    }
    this.#beforeStart = quote + 1;
    this.#beforeEnd = end;
    return end;
  }

  /** The JSON with its stand-ins. */
  finish(): string {
    return this.#abridged + this.#bytes.toString('utf8', this.#copiedEnd);
  }

  #leaveOut(start: number, end: number): void {
    const utf8Bytes = this.#strings.countUtf8Bytes();
    if (utf8Bytes === undefined || utf8Bytes > LONG_TEXT_BYTES_MAX) return;
    if (!beginsVisibly(this.#bytes, start) || isName(this.#bytes, end)) return;
    const field = this.#readFieldName(start);
    // With an escape in it, it may be any name.
    if (READ_FIELDS.has(field) || field.includes('\\')) return;
    const label = `[${utf8Bytes} bytes of text]`;
    const last = this.#readLast(end);
    this.#abridged += this.#bytes.toString('utf8', this.#copiedEnd, start) + label + last;
    this.#copiedEnd = end;
    const standIn = last === '' ? label : parseJson(`"${label}${last}"`);
    this.longTexts.set(String(standIn), utf8Bytes);
  }

  #isWholeName(start: number, end: number): boolean {
    for (const name of this.#abridgment.wholeNames) {
      if (name.length !== end - start || !isName(this.#bytes, end)) continue;
      if (this.#bytes.toString('latin1', start, end) === name) return true;
    }
    return false;
  }

  /** Of the value that begins here, which has one or stands in a list. */
  #readFieldName(start: number): string {
    let colon = start - 2;
    while ((this.#bytes[colon] ?? COLON) <= SPACE) colon -= 1;
    if (this.#bytes[colon] !== COLON) return '';
    return this.#bytes.toString('latin1', this.#beforeStart, this.#beforeEnd);
  }

  /** The last character as it is written, where that may be white space. */
  #readLast(end: number): string {
    const start = this.#strings.findLastCharacter();
    const isVisible = start === end - 1 && this.#bytes[start] !== SPACE;
    return isVisible ? '' : this.#bytes.toString('utf8', start, end);
  }
}

/** Whether one of its first characters is seen: ASCII, or of a block that has no white space in it. */
function beginsVisibly(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < start + VISIBLE_WITHIN_BYTES; at++) {
    const byte = bytes[at] ?? SPACE;
    if (byte === BACKSLASH) at += bytes[at + 1] === LETTER_U ? 5 : 1;
    else if (VISIBLE[byte] === 1) return true;
  }
  return false;
}

/** By the first byte of a character. Those beginning with 0xC2, 0xE1 to 0xE3 and 0xEF may be white space. */
const VISIBLE = Uint8Array.from({ length: 256 }, (_, byte) => {
  const isAscii = byte > SPACE && byte < 0x7f;
  const isOther = (byte >= 0xc3 && byte <= 0xe0) || (byte >= 0xe4 && byte !== 0xef);
  return isAscii || isOther ? 1 : 0;
});

/** Whether a string that ends here is the name of a member. */
function isName(bytes: Uint8Array, end: number): boolean {
  let at = end + 1;
  while ((bytes[at] ?? COLON) <= SPACE) at += 1;
  return bytes[at] === COLON;
}
