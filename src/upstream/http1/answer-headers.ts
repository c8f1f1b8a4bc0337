import { SPACE, TAB } from '../../lib/bytes/ascii.ts';
import type { HttpHeaders } from './http-client.ts';

const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const TO_LOWER = 0x20;

/**
 * The headers of one answer. They stay in the text of the head, because most are never asked for.
 */
export class AnswerHeaders implements HttpHeaders {
  readonly #text: string;
  /** Four positions in the text for each header; see `FieldReader`. */
  readonly #marks: readonly number[];

  constructor(text: string, marks: readonly number[]) {
    this.#text = text;
    this.#marks = marks;
  }

  get(name: string): string | undefined {
    const at = this.#find(name, 0);
    return at === -1 ? undefined : this.#valueAt(at);
  }

  /** Whether there is more than one header of this name. */
  hasSeveral(name: string): boolean {
    const first = this.#find(name, 0);
    return first !== -1 && this.#find(name, first + 4) !== -1;
  }

  getAll(name: string): string[] {
    const values: string[] = [];
    for (let at = this.#find(name, 0); at !== -1; at = this.#find(name, at + 4)) {
      values.push(this.#valueAt(at));
    }
    return values;
  }

  /** Searches from this mark on. */
  #find(name: string, from: number): number {
    const marks = this.#marks;
    const { length } = name;
    for (let at = from; at < marks.length; at += 4) {
      const start = marks[at] ?? 0;
      const end = marks[at + 1] ?? 0;
      if (end - start === length && this.#isNameAt(start, name, length)) return at;
    }
    return -1;
  }

  #isNameAt(start: number, name: string, length: number): boolean {
    const text = this.#text;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(start + i);
      const lower = code >= UPPER_A && code <= UPPER_Z ? code + TO_LOWER : code;
      if (lower !== name.charCodeAt(i)) return false;
    }
    return true;
  }

  #valueAt(at: number): string {
    const start = this.#marks[at + 2] ?? 0;
    let end = this.#marks[at + 3] ?? 0;
    // `trimEnd` would remove more than space and tab, the only two that HTTP counts as space.
    while (end > start && isSpace(this.#text.charCodeAt(end - 1))) end -= 1;
    return this.#text.slice(start, end);
  }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}
