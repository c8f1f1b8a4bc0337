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
/** What is longer without being the head will not become it. */
const HEAD_CHARS_MAX = 256;
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' },
};

/**
 * Takes the text for a custom tool out of its JSON as both come in:
 *
 *   {"input": "  *** Begin Patch\n …  "}
 *   head ──────▶ text ──────────────▶ over
 */
export class CustomInputReader {
  #json = '';
  /** How far the JSON has been read; 0 while the head is incomplete. */
  #at = 0;
  #isOver = false;
  #told = '';

  /** All that was told so far. */
  get told(): string {
    return this.#told;
  }

  /** Returns what this piece adds to the text. */
  add(json: string): string {
    this.#json += json;
    if (this.#isOver) return '';
    if (this.#at === 0) this.#findHead();
    if (this.#at === 0) return '';
    const text = this.#readOn();
    this.#told += text;
    return text;
  }

  #findHead(): void {
    this.#at = HEAD.exec(this.#json)?.[0].length ?? 0;
    if (this.#at === 0 && this.#json.length > HEAD_CHARS_MAX) this.#isOver = true;
  }

  /** Returns the rest of the text, once the JSON is complete or will never be. */
  end(): string {
    const input = parseJson(this.#json);
    const whole = isObject(input) ? readCustomInput(input) : this.#json;
    const isRest = this.#at === 0 || whole.startsWith(this.#told);
    const rest =
      isRest && (isObject(input) || this.#at === 0) ? whole.slice(this.#told.length) : '';
    this.#told += rest;
    return rest;
  }

  #readOn(): string {
    let text = '';
    while (this.#at < this.#json.length) {
      const character = this.#json[this.#at] ?? '';
      if (character === '"') {
        this.#isOver = true;
        break;
      }
      if (character !== '\\') {
        const end = this.#findSpecial();
        text += this.#json.slice(this.#at, end);
        this.#at = end;
        continue;
      }
      const kind = this.#json[this.#at + 1];
      const length = kind === 'u' ? 6 : 2;
      if (kind === undefined || this.#at + length > this.#json.length) break;
      text +=
        kind === 'u'
          ? String.fromCharCode(Number.parseInt(this.#json.slice(this.#at + 2, this.#at + 6), 16))
          : (ESCAPES[kind] ?? '');
      this.#at += length;
    }
    return text;
  }

  #findSpecial(): number {
    for (let at = this.#at; at < this.#json.length; at++) {
      const character = this.#json[at];
      if (character === '"' || character === '\\') return at;
    }
    return this.#json.length;
  }
}
