import { COLON, CR, LF, SPACE, TAB } from '../../lib/bytes/ascii.ts';
import { HEADERS_MAX } from './answer-limits.ts';
import { IS_TOKEN, IS_VALUE } from './byte-classes.ts';

type Verdict = 'reading' | 'done' | 'malformed' | 'too_many';

/** Never written to. */
const NO_MARKS: number[] = [];
const MARKS_MAX = 4 * HEADERS_MAX;

/**
 *                 ┌───────────────────────────────────────────────────┐
 *                 ▼                                                   │ LF
 *   ──▶ lineStart ──▶ name ──":"──▶ valueStart ──▶ value ──CR──▶ lineEnd
 *           │ CR
 *           └──▶ sectionEnd ──LF──▶ done
 */
type State = 'lineStart' | 'name' | 'valueStart' | 'value' | 'lineEnd' | 'sectionEnd';

/**
 * Reads header lines up to the empty line after them. Trailers have the same form. Its result never
 * depends on how the bytes were split. Folded lines, and lines that end in LF alone, are malformed.
 */
export class FieldReader {
  verdict: Verdict = 'reading';
  /** For each line: where its name begins and ends, where its value begins and ends. */
  marks: number[] = [];
  #state: State = 'lineStart';

  /**
   * Reads from `start` at most to `end` and returns how far it came. Marks are positions plus
   * `offset`.
   */
  read(bytes: Uint8Array, start: number, end: number, offset: number): number {
    let at = start;
    while (at < end && this.verdict === 'reading') {
      if (this.#state === 'lineStart') at = this.#readLine(bytes, at, end, offset);
      else if (this.#state === 'name') at = this.#readName(bytes, at, end, offset);
      else if (this.#state === 'value') at = this.#readValue(bytes, at, end, offset);
      else if (this.#state === 'valueStart') at = this.#skipSpace(bytes, at, offset);
      else at = this.#readLineEdge(bytes, at, offset);
    }
    return at;
  }

  restart(): void {
    this.verdict = 'reading';
    this.marks = [];
    this.#state = 'lineStart';
  }

  /** Drops the marks without changing them: whoever took them may keep them. */
  forget(): void {
    this.marks = NO_MARKS;
  }

  /** Reads a usual line at once, but only the first byte of any other line. */
  #readLine(bytes: Uint8Array, start: number, end: number, offset: number): number {
    let nameEnd = start;
    while (nameEnd < end && IS_TOKEN[bytes[nameEnd] ?? 0] === 1) nameEnd += 1;
    const valueStart = nameEnd + 2;
    const isUsual =
      nameEnd > start &&
      valueStart < end &&
      bytes[nameEnd] === COLON &&
      bytes[nameEnd + 1] === SPACE &&
      !isSpace(bytes[valueStart]);
    if (!isUsual) return this.#readLineEdge(bytes, start, offset);
    let valueEnd = valueStart;
    while (valueEnd < end && IS_VALUE[bytes[valueEnd] ?? 0] === 1) valueEnd += 1;
    const isWhole = valueEnd + 1 < end && bytes[valueEnd] === CR && bytes[valueEnd + 1] === LF;
    if (!isWhole || this.marks.length === MARKS_MAX) {
      return this.#readLineEdge(bytes, start, offset);
    }
    this.marks.push(start + offset, nameEnd + offset, valueStart + offset, valueEnd + offset);
    return valueEnd + 2;
  }

  #readName(bytes: Uint8Array, start: number, end: number, offset: number): number {
    let at = start;
    while (at < end && IS_TOKEN[bytes[at] ?? 0] === 1) at += 1;
    if (at === end) return at;
    if (bytes[at] !== COLON) return this.#refuse(at);
    this.marks.push(at + offset);
    this.#state = 'valueStart';
    return at + 1;
  }

  #skipSpace(bytes: Uint8Array, at: number, offset: number): number {
    if (isSpace(bytes[at])) return at + 1;
    this.marks.push(at + offset);
    this.#state = 'value';
    return at;
  }

  #readValue(bytes: Uint8Array, start: number, end: number, offset: number): number {
    let at = start;
    while (at < end && IS_VALUE[bytes[at] ?? 0] === 1) at += 1;
    if (at === end) return at;
    if (bytes[at] !== CR) return this.#refuse(at);
    this.marks.push(at + offset);
    this.#state = 'lineEnd';
    return at + 1;
  }

  /** Decides on one byte at the beginning or the end of a line. */
  #readLineEdge(bytes: Uint8Array, at: number, offset: number): number {
    const byte = bytes[at] ?? 0;
    if (this.#state === 'lineStart') {
      if (byte === CR) this.#state = 'sectionEnd';
      else if (IS_TOKEN[byte] !== 1) return this.#refuse(at);
      else this.#beginLine(at + offset);
      return at + 1;
    }
    if (byte !== LF) return this.#refuse(at);
    if (this.#state === 'sectionEnd') this.verdict = 'done';
    else this.#state = 'lineStart';
    return at + 1;
  }

  #beginLine(mark: number): void {
    this.#state = 'name';
    if (this.marks.length === MARKS_MAX) this.verdict = 'too_many';
    else this.marks.push(mark);
  }

  #refuse(at: number): number {
    this.verdict = 'malformed';
    return at;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}
