import { CR, LF, SEMICOLON } from '../../lib/bytes/ascii.ts';
import {
  CHUNK_EXTENSION_BYTES_MAX,
  CHUNK_SIZE_DIGITS_MAX,
  TRAILER_BYTES_MAX,
} from './answer-limits.ts';
import { hexValue, IS_VALUE } from './byte-classes.ts';
import { FieldReader } from './field-reader.ts';

/**
 *        ┌──────────────────────────────────────────────────────────┐
 *        ▼                                                          │ LF
 *   ──▶ size ──┬────────────CR──▶ sizeEnd ──LF──▶ data ──▶ dataCr ──CR──▶ dataLf
 *              └";"▶ extension ──CR──┘    │ LF after size 0
 *                                         └──▶ trailers ──▶ done
 */
type State = 'size' | 'extension' | 'sizeEnd' | 'data' | 'dataCr' | 'dataLf' | 'trailers';

/** Reads a chunked body without copying: it only says where in the bytes the data are. */
export class ChunkReader {
  verdict: 'reading' | 'done' | 'malformed' = 'reading';
  #state: State = 'size';
  #size = 0;
  #sizeDigits = 0;
  #extensionBytes = 0;
  #trailerBytes = 0;
  readonly #trailers = new FieldReader();

  /**
   * Reads up to the next data and returns where they begin, or the end of the bytes if there are
   * none.
   */
  readToData(bytes: Uint8Array, start: number): number {
    let at = start;
    while (at < bytes.length && this.#state !== 'data' && this.verdict === 'reading') {
      if (this.#state === 'trailers') at = this.#readTrailers(bytes, at);
      else {
        this.#take(bytes[at] ?? 0);
        at += 1;
      }
    }
    return at;
  }

  /** Takes the data that come next and returns how many bytes they are. */
  takeData(bytesMax: number): number {
    if (this.#state !== 'data') return 0;
    const length = Math.min(this.#size, bytesMax);
    this.#size -= length;
    if (this.#size === 0) this.#state = 'dataCr';
    return length;
  }

  restart(): void {
    this.verdict = 'reading';
    this.#trailerBytes = 0;
    this.#trailers.restart();
    this.#beginChunk();
  }

  #beginChunk(): void {
    this.#state = 'size';
    this.#size = 0;
    this.#sizeDigits = 0;
    this.#extensionBytes = 0;
  }

  #take(byte: number): void {
    const next = this.#follow(byte);
    if (next === undefined) this.verdict = 'malformed';
    else this.#state = next;
  }

  /** The state after this byte; undefined if the byte is not allowed here. */
  #follow(byte: number): State | undefined {
    switch (this.#state) {
      case 'size':
        return this.#followSize(byte);
      case 'extension':
        this.#extensionBytes += 1;
        if (byte === CR) return 'sizeEnd';
        if (this.#extensionBytes > CHUNK_EXTENSION_BYTES_MAX) return undefined;
        return IS_VALUE[byte] === 1 ? 'extension' : undefined;
      case 'sizeEnd':
        if (byte !== LF) return undefined;
        return this.#size === 0 ? 'trailers' : 'data';
      case 'dataCr':
        return byte === CR ? 'dataLf' : undefined;
      default:
        if (byte !== LF) return undefined;
        this.#beginChunk();
        return 'size';
    }
  }

  #followSize(byte: number): State | undefined {
    const digit = hexValue(byte);
    if (digit >= 0) {
      this.#size = this.#size * 16 + digit;
      this.#sizeDigits += 1;
      return this.#sizeDigits <= CHUNK_SIZE_DIGITS_MAX ? 'size' : undefined;
    }
    if (this.#sizeDigits === 0) return undefined;
    if (byte === CR) return 'sizeEnd';
    return byte === SEMICOLON ? 'extension' : undefined;
  }

  #readTrailers(bytes: Uint8Array, start: number): number {
    const end = Math.min(bytes.length, start + TRAILER_BYTES_MAX - this.#trailerBytes);
    const at = this.#trailers.read(bytes, start, end, 0);
    this.#trailerBytes += at - start;
    if (this.#trailers.verdict === 'done') this.verdict = 'done';
    else if (this.#trailers.verdict !== 'reading' || this.#trailerBytes === TRAILER_BYTES_MAX) {
      this.verdict = 'malformed';
    }
    return at;
  }
}
