/**
 * FAST TWIN of `src/protocol/json/parse-json-body.ts`.
 * Held equal by `test/unit/protocol/json/abridge-json.test.ts`.
 * Gain: 1,880 to 490 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import * as ascii from '../../lib/bytes/ascii.ts';
import { isObject } from '../schema.ts';
import { canFindMarks } from '../sse/find-marks.ts';
import {
  JSON_DEPTH_MAX,
  JSON_FIELDS_MAX,
  JSON_NAME_BYTES_MAX,
  JSON_PARTS_MAX,
} from './json-place.ts';
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

/** Says where texts may be left out. */
export interface Abridgment {
  /** Texts may be left out only inside the members with these names. */
  readonly members: ReadonlySet<string>;
  /** If one of these names is inside such a member, the whole body is read. */
  readonly wholeNames: ReadonlySet<string>;
}

/**
 * The fields whose text itself matters: its length is bounded, it must match a pattern, or it says
 * who signed a thought.
 */
export const READ_FIELDS: ReadonlySet<string> = new Set([
  ...['id', 'tool_use_id', 'tool_call_id', 'call_id', 'name', 'title', 'signature'],
]);

/** Reading a shorter text costs less than leaving it out. */
const LONG_TEXT_BYTES_MIN = 512;
/**
 * A longer text may exceed the limit of a field, so the checks that know the limits must read it.
 */
const LONG_TEXT_BYTES_MAX = 4 * 1024 ** 2;
/** A text must show within this many bytes that it is more than white space. */
const VISIBLE_WITHIN_BYTES = 64;

/**
 * Reads a JSON object with stand-ins for its long texts. Everything else in the value is complete.
 * Each stand-in replaces a text that is valid JSON; it is no more blank than that text and ends
 * with the same character. Equal stand-ins replace texts of equal length. Returns `undefined` if
 * the whole body has to be read, which includes every body that is wrong. The bytes are UTF-8.
 */
export function abridgeJson(bytes: Buffer, abridgment: Abridgment): JsonBody | undefined {
  if (!canFindMarks()) return undefined;
  const abridger = new Abridger(bytes, abridgment);
  const members = abridger.walk();
  if (members === undefined || members.length > JSON_FIELDS_MAX) return undefined;
  const value = parseJson(abridger.finish());
  if (!isObject(value)) return undefined;
  const hasPlainNames = members.every(({ name }) => !name.includes('\\'));
  const { longTexts, memberCount, scalarBytes } = abridger;
  return { value, bytes, members, hasPlainNames, memberCount, scalarBytes, longTexts };
}

class Abridger {
  readonly longTexts = new Map<string, number>();
  memberCount = 0;
  scalarBytes = 0;
  readonly #bytes: Buffer;
  readonly #abridgment: Abridgment;
  readonly #strings: JsonStringReader;
  readonly #members: JsonMember[] = [];
  #depth = 0;
  #depthMax = 0;
  #listsAndObjects = 0;
  /** The member that the walk is in. `#valueStart` is -1 until the walk finds the colon. */
  #name = '';
  #nameStart = 0;
  #valueStart = -1;
  #isAbridged = false;
  #needsWhole = false;
  #abridged = '';
  #copiedEnd = 0;
  /** The previous string. */
  #beforeStart = 0;
  #beforeEnd = 0;

  constructor(bytes: Buffer, abridgment: Abridgment) {
    this.#bytes = bytes;
    this.#abridgment = abridgment;
    this.#strings = new JsonStringReader(bytes);
  }

  /**
   * Returns where the members are, as `scanJson` finds them. Small bodies take half the time of
   * `scanJson`. Returns `undefined` if the whole body has to be read.
   */
  walk(): JsonMember[] | undefined {
    for (let at = 0; at < this.#bytes.length; at++) {
      const mark = this.#strings.next();
      this.#passStructure(at, mark);
      at = this.#bytes[mark] === QUOTE ? this.#passString(mark) : mark;
      if (this.#depthMax > JSON_DEPTH_MAX || this.#needsWhole) return undefined;
      if (this.#strings.hasGivenUp()) return undefined;
      if (this.#listsAndObjects + this.memberCount > JSON_PARTS_MAX) return undefined;
    }
    return this.#members;
  }

  /** Reads the bytes between two strings. */
  #passStructure(start: number, end: number): void {
    for (let at = start; at < end; at++) {
      switch (this.#bytes[at]) {
        case OPENING_BRACE:
        case OPENING_BRACKET:
          this.#depth += 1;
          this.#listsAndObjects += 1;
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
          this.#needsWhole ||= this.#beforeEnd - this.#beforeStart > JSON_NAME_BYTES_MAX;
          if (this.#depth === 1) this.#beginValue(at + 1);
          break;
        default:
          if ((this.#bytes[at] ?? 0) > SPACE) this.scalarBytes += 1;
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

  /** Returns the place of the closing quote. */
  #passString(quote: number): number {
    const end = this.#strings.readOn(quote);
    if (this.#valueStart === -1) {
      this.#nameStart = quote;
      this.#name = this.#bytes.toString('latin1', quote + 1, end);
    } else if (this.#isAbridged) {
      if (end - quote > LONG_TEXT_BYTES_MIN) this.#leaveOut(quote + 1, end);
      else this.#needsWhole ||= this.#isWholeName(quote + 1, end);
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
    // A name with an escape may be any name.
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

  /**
   * Returns the name of the field whose value starts here, or an empty string if the value is in a
   * list.
   */
  #readFieldName(start: number): string {
    let colon = start - 2;
    while ((this.#bytes[colon] ?? COLON) <= SPACE) colon -= 1;
    if (this.#bytes[colon] !== COLON) return '';
    return this.#bytes.toString('latin1', this.#beforeStart, this.#beforeEnd);
  }

  /** Returns the last character as it is written in the JSON if it may be white space. */
  #readLast(end: number): string {
    const start = this.#strings.findLastCharacter();
    const isVisible = start === end - 1 && this.#bytes[start] !== SPACE;
    return isVisible ? '' : this.#bytes.toString('utf8', start, end);
  }
}

/** Whether one of the first characters is visible: ASCII, or from a block without white space. */
function beginsVisibly(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < start + VISIBLE_WITHIN_BYTES; at++) {
    const byte = bytes[at] ?? SPACE;
    if (byte === BACKSLASH) at += bytes[at + 1] === LETTER_U ? 5 : 1;
    else if (VISIBLE[byte] === 1) return true;
  }
  return false;
}

/** Indexed by the first byte of a character. 0xC2, 0xE1 to 0xE3 and 0xEF may begin white space. */
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
