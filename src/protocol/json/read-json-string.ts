import * as ascii from '../../lib/bytes/ascii.ts';
import { MarkReader } from '../sse/find-marks.ts';

const { BACKSLASH, LETTER_U, QUOTE } = ascii;

const SHORT_ESCAPE_BYTES = 2;
const UNICODE_ESCAPE_BYTES = 6;
const PAIR_BYTES = 4;
/** With more than one escape in this many bytes, reading is faster than counting the bytes. */
const BYTES_PER_UNICODE_ESCAPE_MIN = 64;
/** This many escapes never count as too many, wherever they are. */
const FEW_UNICODE_ESCAPES = 64;

/** The value of each hexadecimal digit, by its byte; -1 for every other byte. */
const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) => {
  return '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase());
});

/**
 * Walks through the strings of a JSON text without decoding them. It knows the length of the latest
 * one.
 */
export class JsonStringReader {
  readonly #bytes: Uint8Array;
  readonly #marks: MarkReader;
  #start = 0;
  #end = 0;
  /** How many bytes the escapes take beyond the characters that they stand for. */
  #escapeBytes = 0;
  #hasFault = false;
  #hasGivenUp = false;
  #unicodeEscapes = 0;
  /**
   * The place of an escape that is the first half of a surrogate pair. The second half must follow
   * at once, or the text is faulty.
   */
  #halfStart = -1;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#marks = new MarkReader(bytes);
  }

  /**
   * Whether the caller must read the whole JSON, because it is not valid or because reading is
   * faster.
   */
  hasGivenUp(): boolean {
    return this.#hasGivenUp || this.#marks.isDense;
  }

  /**
   * Returns where the next string begins. Any other byte that it finds is outside of a string.
   * Returns the length of the bytes if no mark is left.
   */
  next(): number {
    return this.#marks.next();
  }

  /**
   * Reads the string that begins at `quote`, which `next` found. Returns the place of its closing
   * quote, unless the reader gives up.
   */
  readOn(quote: number): number {
    const escapesBefore = this.#marks.shortEscapes;
    this.#start = quote + 1;
    this.#escapeBytes = 0;
    this.#hasFault = false;
    this.#halfStart = -1;
    for (;;) {
      const mark = this.#marks.next();
      const byte = this.#bytes[mark];
      if (byte === QUOTE) {
        this.#end = mark;
        this.#escapeBytes += this.#marks.shortEscapes - escapesBefore;
        this.#hasFault ||= this.#halfStart !== -1;
        return mark;
      }
      if (byte === BACKSLASH) this.#readUnicodeEscape(mark);
      else this.#hasGivenUp = true;
      if (this.#hasGivenUp) return mark;
    }
  }

  /**
   * Returns the length of the text in UTF-8 bytes, or `undefined` if the text has half a surrogate
   * pair, which has no length in UTF-8.
   */
  countUtf8Bytes(): number | undefined {
    return this.#hasFault ? undefined : this.#end - this.#start - this.#escapeBytes;
  }

  /**
   * Returns where the last character begins as it is written, possibly with some characters before
   * it.
   */
  findLastCharacter(): number {
    for (const length of [SHORT_ESCAPE_BYTES, UNICODE_ESCAPE_BYTES]) {
      if (this.#isEscape(this.#end - length)) return this.#end - length;
    }
    let at = this.#end - 1;
    while (at > this.#start && isContinuation(this.#bytes[at])) at -= 1;
    return at;
  }

  #isEscape(at: number): boolean {
    if (at < this.#start || this.#bytes[at] !== BACKSLASH) return false;
    let first = at;
    while (first > this.#start && this.#bytes[first - 1] === BACKSLASH) first -= 1;
    return (at - first) % 2 === 0;
  }

  #readUnicodeEscape(at: number): void {
    const unit = this.#bytes[at + 1] === LETTER_U ? readHex(this.#bytes, at + 2) : -1;
    this.#unicodeEscapes += 1;
    const fewBytes = (this.#unicodeEscapes - FEW_UNICODE_ESCAPES) * BYTES_PER_UNICODE_ESCAPE_MIN;
    this.#hasGivenUp = unit < 0 || fewBytes > at;
    const isLowHalf = unit >= 0xdc00 && unit <= 0xdfff;
    if (isLowHalf && this.#halfStart === at - UNICODE_ESCAPE_BYTES) {
      this.#escapeBytes += 2 * UNICODE_ESCAPE_BYTES - PAIR_BYTES;
      this.#halfStart = -1;
    } else if (isLowHalf || this.#halfStart !== -1) this.#hasFault = true;
    else if (unit >= 0xd800 && unit <= 0xdbff) this.#halfStart = at;
    else this.#escapeBytes += UNICODE_ESCAPE_BYTES - utf8BytesOf(unit);
  }
}

/** Returns a negative number if the four characters are not hexadecimal digits. */
function readHex(bytes: Uint8Array, start: number): number {
  const digit = (place: number) => HEX_VALUES[bytes[start + place] ?? 0] ?? -1;
  return (digit(0) << 12) | (digit(1) << 8) | (digit(2) << 4) | digit(3);
}

function utf8BytesOf(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
