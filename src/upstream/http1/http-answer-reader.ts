import { AnswerHeaders } from './answer-headers.ts';
import { HEAD_BYTES_MAX, INFORMATIONAL_HEADS_MAX } from './answer-limits.ts';
import { ChunkReader } from './chunk-reader.ts';
import { FieldReader } from './field-reader.ts';
import { type Framing, frameBody, type HttpAnswerHead } from './frame-body.ts';
import { readKeepMs } from './read-keep-ms.ts';
import { StatusLineReader } from './status-line-reader.ts';

export type AnswerStep =
  /** All bytes are read, but the answer continues. */
  | 'more'
  /** `head` is set. */
  | 'head'
  /** `data` is set. */
  | 'data'
  /** The answer is complete. Bytes after `position` do not belong to it. */
  | 'end'
  | 'malformed'
  | 'too_large_head';

const NO_HEAD: HttpAnswerHead = { status: 0, minorVersion: 0, headers: new AnswerHeaders('', []) };
const NO_DATA = new Uint8Array(0);

/**
 * Reads one answer after the other from bytes that may be split anywhere. It calls nobody: the
 * caller asks for one step after the other until `more` bytes are needed, or stops in between and
 * comes back with the bytes from `position` on.
 */
export class HttpAnswerReader {
  /** Where in the bytes the last step ended. */
  position = 0;
  head = NO_HEAD;
  data: Uint8Array = NO_DATA;
  /** Undefined while the head is being read. */
  #framing: Framing | undefined;
  #isHead = false;
  #bodyBytesLeft = 0;
  #headBytes = 0;
  #informationalHeads = 0;
  #keepMs = 0;
  /** The head as far as it has been read. */
  #text = '';
  readonly #statusLine = new StatusLineReader();
  readonly #fields = new FieldReader();
  readonly #chunks = new ChunkReader();

  /** Prepares for the answer to the next request. */
  restart(method: string): void {
    this.head = NO_HEAD;
    this.data = NO_DATA;
    this.#framing = undefined;
    this.#isHead = method === 'HEAD';
    this.#informationalHeads = 0;
    this.#beginHead();
  }

  read(bytes: Buffer, start: number): AnswerStep {
    this.position = start;
    switch (this.#framing?.kind) {
      case undefined:
        return this.#readHead(bytes, start);
      case 'none':
        return 'end';
      case 'length':
        if (this.#bodyBytesLeft === 0) return 'end';
        this.#bodyBytesLeft -= this.#takeData(bytes, start, this.#bodyBytesLeft);
        return this.position === start ? 'more' : 'data';
      case 'until_close':
        return this.#takeData(bytes, start, bytes.length) === 0 ? 'more' : 'data';
      case 'chunked':
        return this.#readChunks(bytes, start);
    }
  }

  /** Whether the answer is complete if the connection ends here, between two calls of `read`. */
  isCompleteAtClose(): boolean {
    return this.#framing?.kind === 'until_close';
  }

  /**
   * How long the connection may wait for another request once the answer is complete. 0 means not
   * at all.
   */
  keepMs(): number {
    return this.#keepMs;
  }

  /** Call this once the head was passed on, because a stream may stay open for a long time. */
  forgetHead(): void {
    this.head = NO_HEAD;
    this.#text = '';
    this.#fields.forget();
  }

  forgetData(): void {
    this.data = NO_DATA;
  }

  #beginHead(): void {
    this.#headBytes = 0;
    this.#text = '';
    this.#statusLine.restart();
    this.#fields.restart();
  }

  #readHead(bytes: Buffer, start: number): AnswerStep {
    const end = Math.min(bytes.length, start + HEAD_BYTES_MAX - this.#headBytes);
    let at = this.#statusLine.read(bytes, start, end);
    if (this.#statusLine.verdict === 'done') {
      at = this.#fields.read(bytes, at, end, this.#headBytes - start);
    }
    this.#text += bytes.toString('latin1', start, at);
    this.#headBytes += at - start;
    this.position = at;
    if (this.#statusLine.verdict === 'malformed') return 'malformed';
    switch (this.#fields.verdict) {
      case 'done':
        return this.#finishHead(bytes);
      case 'malformed':
        return 'malformed';
      case 'too_many':
        return 'too_large_head';
      case 'reading':
        return this.#headBytes === HEAD_BYTES_MAX ? 'too_large_head' : 'more';
    }
  }

  #finishHead(bytes: Buffer): AnswerStep {
    const { status, minorVersion } = this.#statusLine;
    if (status < 200) return this.#skipInformational(bytes, status);
    const headers = new AnswerHeaders(this.#text, this.#fields.marks);
    this.head = { status, minorVersion, headers };
    this.#framing = frameBody(this.head, this.#isHead);
    if (this.#framing === undefined) return 'malformed';
    this.#keepMs = this.#framing.kind === 'until_close' ? 0 : readKeepMs(this.head);
    if (this.#framing.kind === 'length') this.#bodyBytesLeft = this.#framing.bytes;
    if (this.#framing.kind === 'chunked') this.#chunks.restart();
    return 'head';
  }

  #skipInformational(bytes: Buffer, status: number): AnswerStep {
    this.#informationalHeads += 1;
    // No request asks for another protocol.
    if (status === 101 || this.#informationalHeads > INFORMATIONAL_HEADS_MAX) return 'malformed';
    this.#beginHead();
    return this.#readHead(bytes, this.position);
  }

  #readChunks(bytes: Buffer, start: number): AnswerStep {
    const at = this.#chunks.readToData(bytes, start);
    this.position = at;
    if (this.#chunks.verdict === 'malformed') return 'malformed';
    if (this.#chunks.verdict === 'done') return 'end';
    const length = this.#chunks.takeData(bytes.length - at);
    return this.#takeData(bytes, at, length) === 0 ? 'more' : 'data';
  }

  #takeData(bytes: Buffer, start: number, bytesMax: number): number {
    const end = Math.min(bytes.length, start + bytesMax);
    if (end > start) this.data = bytes.subarray(start, end);
    this.position = end;
    return end - start;
  }
}
