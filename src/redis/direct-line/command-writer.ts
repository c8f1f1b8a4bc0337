import * as ascii from '../../lib/bytes/ascii.ts';

const { CR, LF } = ascii;

export type CommandArg = string | number | Buffer;

const FIRST_ROOM_BYTES = 4 * 1_024;
/** A buffer that has grown beyond this in a busy moment is given back after it. */
const KEPT_ROOM_BYTES_MAX = 256 * 1_024;
/**
 * Longer texts are written by a native call, which costs as much as writing this many characters.
 */
const SHORT_TEXT_MAX = 64;
const ASCII_MAX = 0x7f;
const ASTERISK = 0x2a;
const DOLLAR = 0x24;
const MINUS = 0x2d;
const ZERO = 0x30;
/**
 * Room for the digits and sign of a safe integer, or of a length, with the frame of an argument.
 */
const NUMBER_BYTES_MAX = 48;

/**
 * Writes commands in the form that the server reads, one after another. It writes character by
 * character into one buffer: built from strings, the commands of one request would leave 5 KB of
 * garbage behind.
 */
export class CommandWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST_ROOM_BYTES);
  #at = 0;

  get isEmpty(): boolean {
    return this.#at === 0;
  }

  /** Numbers must be whole. */
  write(name: string, args: readonly CommandArg[]): void {
    this.#makeRoom(NUMBER_BYTES_MAX);
    this.#bytes[this.#at++] = ASTERISK;
    this.#writeDigits(args.length + 1);
    this.#endLine();
    this.#writeText(name);
    for (let i = 0; i < args.length; i++) this.#writeArg(args[i] ?? '');
  }

  /** Returns everything written since the last call. */
  take(): Buffer {
    const taken = Buffer.allocUnsafe(this.#at);
    this.#bytes.copy(taken, 0, 0, this.#at);
    this.#at = 0;
    if (this.#bytes.length > KEPT_ROOM_BYTES_MAX) {
      this.#bytes = Buffer.allocUnsafeSlow(FIRST_ROOM_BYTES);
    }
    return taken;
  }

  #writeArg(arg: CommandArg): void {
    if (typeof arg === 'string') this.#writeText(arg);
    else if (typeof arg === 'number') this.#writeNumber(arg);
    else this.#writeBytes(arg);
  }

  #writeText(text: string): void {
    const { length } = text;
    if (length > SHORT_TEXT_MAX || !this.#writeShort(text, length)) this.#writeLong(text);
    this.#endLine();
  }

  /** Returns false and writes nothing if the text is not ASCII. */
  #writeShort(text: string, length: number): boolean {
    this.#makeRoom(NUMBER_BYTES_MAX + length);
    const start = this.#at;
    this.#beginArg(length);
    const bytes = this.#bytes;
    let at = this.#at;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > ASCII_MAX) {
        this.#at = start;
        return false;
      }
      bytes[at++] = code;
    }
    this.#at = at;
    return true;
  }

  #writeLong(text: string): void {
    const length = Buffer.byteLength(text);
    this.#makeRoom(NUMBER_BYTES_MAX + length);
    this.#beginArg(length);
    this.#at += this.#bytes.write(text, this.#at);
  }

  #writeBytes(bytes: Buffer): void {
    this.#makeRoom(NUMBER_BYTES_MAX + bytes.length);
    this.#beginArg(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
    this.#endLine();
  }

  #writeNumber(value: number): void {
    this.#makeRoom(NUMBER_BYTES_MAX);
    const size = Math.abs(value);
    this.#beginArg(countDigits(size) + (value < 0 ? 1 : 0));
    if (value < 0) this.#bytes[this.#at++] = MINUS;
    this.#writeDigits(size);
    this.#endLine();
  }

  #beginArg(length: number): void {
    this.#bytes[this.#at++] = DOLLAR;
    this.#writeDigits(length);
    this.#endLine();
  }

  #writeDigits(value: number): void {
    const end = this.#at + countDigits(value);
    let left = value;
    for (let at = end - 1; at >= this.#at; at--) {
      const rest = Math.floor(left / 10);
      this.#bytes[at] = ZERO + (left - 10 * rest);
      left = rest;
    }
    this.#at = end;
  }

  #endLine(): void {
    this.#bytes[this.#at++] = CR;
    this.#bytes[this.#at++] = LF;
  }

  #makeRoom(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(2 * (this.#at + bytes));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}

function countDigits(value: number): number {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
}
