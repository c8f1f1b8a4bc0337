import * as ascii from '../../lib/bytes/ascii.ts';
import { MarkReader } from '../sse/find-marks.ts';

const { BACKSLASH, LETTER_U, QUOTE } = ascii;

const SHORT_ESCAPE_BYTES = 2;
const UNICODE_ESCAPE_BYTES = 6;
const PAIR_BYTES = 4;
/** Where one stands in fewer bytes than these, reading is quicker than counting what they take. */
const BYTES_PER_UNICODE_ESCAPE_MIN = 64;
/** So many may stand anywhere. */
const FEW_UNICODE_ESCAPES = 64;

/** The value of a digit by its byte, -1 of all others. */
const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) => {
  return '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase());
});

/** Goes through the strings of some JSON without reading them, and knows of the latest what its text takes. */
export class JsonStringReader {
  readonly #bytes: Uint8Array;
  readonly #marks: MarkReader;
  #start = 0;
  #end = 0;
  /** What its escapes take more than what they stand for. */
  #escapeBytes = 0;
  #hasFault = false;
  #hasGivenUp = false;
  #unicodeEscapes = 0;
  /** Where an escape stands that is half of a character: the other half follows at once, or it is a fault. */
  #halfStart = -1;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#marks = new MarkReader(bytes);
  }

  /** All has to be read: it is no JSON, or that is quicker. */
  hasGivenUp(): boolean {
    return this.#hasGivenUp || this.#marks.isDense;
  }

  /** Where the next string begins; other marks stand outside of strings, and the length of the bytes ends them. */
  next(): number {
    return this.#marks.next();
  }

  /** Its quotes are at `quote`, which `next` found, and at the place that is answered, unless it gave up. */
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

  /** What its text takes in UTF-8; undefined where it has half a character, which nobody can count. */
  countUtf8Bytes(): number | undefined {
    return this.#hasFault ? undefined : this.#end - this.#start - this.#escapeBytes;
  }

  /** Its last character as it is written, with some of those before it perhaps. */
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

/** Below 0 where it is none. */
function readHex(bytes: Uint8Array, start: number): number {
  const digit = (place: number) => HEX_VALUES[bytes[start + place] ?? 0] ?? -1;
  return (digit(0) << 12) | (digit(1) << 8) | (digit(2) << 4) | digit(3);
}

function utf8BytesOf(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
