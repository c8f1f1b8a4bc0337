import { asBuffer } from '../../lib/bytes/as-buffer.ts';
import * as ascii from '../../lib/bytes/ascii.ts';
import { JsonPlace } from './json-place.ts';

const { CLOSING_BRACE, CLOSING_BRACKET, COLON, COMMA, QUOTE } = ascii;

/** The names under which answers of all formats have what a model says. */
const SAID_UNDER = new Set([
  'text',
  'content',
  'refusal',
  'thinking',
  'reasoning',
  'reasoning_content',
  'arguments',
]);
/** The name of a call's input, of which all texts count. */
const INPUT = 'input';
/** No such name is longer. */
const NAME_BYTES_MAX = 32;

/**
 * Counts the bytes of what a model says in one member of a JSON object that arrives in pieces, and
 * keeps nothing of it. An escape counts as it is written.
 */
export class TextCounter {
  bytes = 0;
  readonly #member: string;
  readonly #json = new JsonPlace();
  #isInMember = false;
  #name = '';
  /** The beginning and the length of the last string, until it is known to be a name or a value. */
  #beginning = '';
  #length = 0;
  /** How deep the member with a call's input is, while the walk is in it. */
  #inputDepth: number | undefined;

  constructor(member: string) {
    this.#member = member;
  }

  add(piece: Uint8Array): void {
    const bytes = asBuffer(piece);
    for (let at = 0; at < bytes.length; at++) {
      if (this.#json.isInString) {
        const start = at;
        at = this.#json.passString(bytes, at);
        this.#addString(bytes, start, this.#json.isInString ? at + 1 : at);
        continue;
      }
      const byte = bytes[at] ?? 0;
      this.#json.pass(byte);
      if (byte === COLON) this.#beginValue();
      else if (byte === COMMA || byte === CLOSING_BRACE || byte === CLOSING_BRACKET)
        this.#endValue(byte === COMMA);
      else if (byte === QUOTE) {
        this.#beginning = '';
        this.#length = 0;
      }
    }
  }

  #addString(bytes: Buffer, start: number, end: number): void {
    this.#length += end - start;
    const room = NAME_BYTES_MAX - this.#beginning.length;
    if (room > 0) this.#beginning += bytes.toString('latin1', start, Math.min(end, start + room));
  }

  #beginValue(): void {
    const { depth } = this.#json;
    this.#name = this.#beginning;
    this.#length = 0;
    if (depth === 1) this.#isInMember = this.#name === this.#member;
    else if (this.#name === INPUT) this.#inputDepth ??= depth;
  }

  #endValue(isFollowed: boolean): void {
    const { depth } = this.#json;
    const inputDepth = this.#inputDepth;
    const isSaid = inputDepth !== undefined || SAID_UNDER.has(this.#name);
    if (this.#isInMember && isSaid) this.bytes += this.#length;
    this.#length = 0;
    if (inputDepth === undefined) return;
    const isInputOver = depth < inputDepth || (isFollowed && depth === inputDepth);
    if (isInputOver) this.#inputDepth = undefined;
  }
}
