import { parseJson } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';

/** The one field of the object in which a model writes the text for a custom tool. */
export const INPUT_FIELD = 'input';

/** Reads the text from a complete input. A model may have named the field otherwise. */
export function readCustomInput(input: Readonly<Record<string, unknown>>): string {
  const text = input[INPUT_FIELD];
  if (typeof text === 'string') return text;
  const values = Object.values(input);
  const [only = ''] = values;
  return values.length < 2 && typeof only === 'string' ? only : JSON.stringify(input);
}

const HEAD = /^\s*\{\s*"input"\s*:\s*"/;
/** A longer text that is not the head yet will not become it. */
const HEAD_CHARS_MAX = 256;
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' },
};

/** UTF-16 writes many characters in two halves. */
const FIRST_HALF = /[\ud800-\udbff]$/;

/**
 * Takes the text for a custom tool out of its JSON as both come in:
 *
 *   {"input": "  *** Begin Patch\n …  "}
 *   head ──────▶ text ──────────────▶ over
 */
export class CustomInputReader {
  /** All that came. It is not read before its end, because reading it joins all of its pieces. */
  #json = '';
  /** What has not been read yet: the head while it is incomplete, or an incomplete escape. */
  #unread = '';
  #hasHead = false;
  #isOver = false;
  /** The first half of a character whose second half has not come yet. */
  #half = '';
  #emitted = '';

  /** All that was emitted so far. */
  get emitted(): string {
    return this.#emitted;
  }

  /** Returns what this piece adds to the text. */
  add(json: string): string {
    this.#json += json;
    if (this.#isOver) return '';
    this.#unread += json;
    if (!this.#hasHead) this.#findHead();
    if (!this.#hasHead) return '';
    const read = this.#half + this.#readOn();
    const end = FIRST_HALF.test(read) ? read.length - 1 : read.length;
    this.#half = read.slice(end);
    const text = read.slice(0, end);
    this.#emitted += text;
    return text;
  }

  #findHead(): void {
    const head = HEAD.exec(this.#unread)?.[0];
    if (head !== undefined) {
      this.#hasHead = true;
      this.#unread = this.#unread.slice(head.length);
    } else if (this.#unread.length > HEAD_CHARS_MAX) this.#isOver = true;
  }

  /** Returns the rest of the text, once the JSON is complete or will never be. */
  end(): string {
    const input = parseJson(this.#json);
    const whole = isObject(input) ? readCustomInput(input) : this.#json;
    const isRest = !this.#hasHead || whole.startsWith(this.#emitted);
    const rest =
      isRest && (isObject(input) || !this.#hasHead) ? whole.slice(this.#emitted.length) : '';
    this.#emitted += rest;
    return rest;
  }

  #readOn(): string {
    const json = this.#unread;
    let text = '';
    let at = 0;
    while (at < json.length) {
      const character = json[at] ?? '';
      if (character === '"') {
        this.#isOver = true;
        break;
      }
      if (character !== '\\') {
        const end = findSpecial(json, at);
        text += json.slice(at, end);
        at = end;
        continue;
      }
      const kind = json[at + 1];
      const length = kind === 'u' ? 6 : 2;
      if (kind === undefined || at + length > json.length) break;
      text +=
        kind === 'u'
          ? String.fromCharCode(Number.parseInt(json.slice(at + 2, at + 6), 16))
          : (ESCAPES[kind] ?? '');
      at += length;
    }
    this.#unread = json.slice(at);
    return text;
  }
}

function findSpecial(json: string, start: number): number {
  for (let at = start; at < json.length; at++) {
    if (json[at] === '"' || json[at] === '\\') return at;
  }
  return json.length;
}
