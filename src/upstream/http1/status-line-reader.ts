import { CR, LF, SPACE } from '../../lib/bytes/ascii.ts';
import { digitValue, IS_VALUE } from './byte-classes.ts';

const USUAL_LINE = Buffer.from('HTTP/1.1 200 OK\r\n');
const VERSION = Buffer.from('HTTP/1.');
const VERSION_LENGTH = VERSION.length;
const STATUS_START = VERSION_LENGTH + 2;
const STATUS_END = STATUS_START + 3;

/** Reads `HTTP/1.1 200 OK` with its line end, byte by byte. */
export class StatusLineReader {
  verdict: 'reading' | 'done' | 'malformed' = 'reading';
  status = 0;
  /** The last digit of the HTTP version: 0 or 1. */
  minorVersion = 0;
  /** How many bytes of the line were read, counted up to the status. */
  #column = 0;
  #isAfterCr = false;

  /** Reads from `start` at most to `end` and returns how far it came. */
  read(bytes: Uint8Array, start: number, end: number): number {
    if (this.#column === 0 && isUsualLine(bytes, start, end)) {
      this.status = 200;
      this.minorVersion = 1;
      this.verdict = 'done';
      return start + USUAL_LINE.length;
    }
    let at = start;
    while (at < end && this.verdict === 'reading') {
      this.#take(bytes[at] ?? 0);
      at += 1;
    }
    return at;
  }

  restart(): void {
    this.verdict = 'reading';
    this.status = 0;
    this.minorVersion = 0;
    this.#column = 0;
    this.#isAfterCr = false;
  }

  #take(byte: number): void {
    const isRight = this.#column < STATUS_END ? this.#takeFixed(byte) : this.#takeReason(byte);
    if (!isRight) this.verdict = 'malformed';
  }

  #takeFixed(byte: number): boolean {
    const column = this.#column;
    this.#column += 1;
    if (column < VERSION_LENGTH) return byte === VERSION[column];
    if (column === STATUS_START - 1) return byte === SPACE;
    const digit = digitValue(byte);
    if (column === VERSION_LENGTH) {
      this.minorVersion = digit;
      return digit === 0 || digit === 1;
    }
    this.status = this.status * 10 + digit;
    return column === STATUS_START ? digit >= 1 && digit <= 5 : digit >= 0 && digit <= 9;
  }

  /** Many servers leave out the reason, and with it the space before it. */
  #takeReason(byte: number): boolean {
    if (this.#isAfterCr) {
      if (byte === LF) this.verdict = 'done';
      return byte === LF;
    }
    if (byte === CR) {
      this.#isAfterCr = true;
      return true;
    }
    const isFirst = this.#column === STATUS_END;
    this.#column = STATUS_END + 1;
    return isFirst ? byte === SPACE : IS_VALUE[byte] === 1;
  }
}

/** Nearly every status line is the usual one, which needs no state for each byte. */
function isUsualLine(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < USUAL_LINE.length) return false;
  for (let i = 0; i < USUAL_LINE.length; i++) {
    if (bytes[start + i] !== USUAL_LINE[i]) return false;
  }
  return true;
}
