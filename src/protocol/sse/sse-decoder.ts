import { asBuffer } from '../../lib/bytes/as-buffer.ts';
import * as ascii from '../../lib/bytes/ascii.ts';
import { GatheredBytes } from '../../lib/bytes/gathered-bytes.ts';
import { Refusal } from '../refusals.ts';

const { CR, LF } = ascii;

/** One server-sent event. By the standard, an event without data is not an event. */
export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** Some proxies keep a stream alive with events that have no data. Clients would break on them. */
export const isBlankEvent = ({ data }: SseEvent) => data.trim() === '';

export interface SseDecoder {
  /** Returns the events that this chunk completes. */
  push(chunk: Uint8Array): SseEvent[];
  /** Says that the stream has ended. By the standard, an incomplete event is dropped. */
  end(): SseEvent[];
}

/** Far above the size of a real event. The limit keeps an endless event from filling the memory. */
export const SSE_EVENT_BYTES_MAX = 4 * 1024 * 1024;

const BYTE_ORDER_MARK = '\uFEFF';

/** Reads a stream that may be cut anywhere, even inside a character or a line ending. */
export function createSseDecoder(): SseDecoder {
  return new EventLines();
}

class EventLines implements SseDecoder {
  /** The beginning of a line that comes in pieces. */
  #begun: GatheredBytes | undefined;
  #line = '';
  #lineBytes = 0;
  #isFirstLine = true;
  #isAfterCr = false;
  /** The fields of the current event. */
  #event: string | undefined;
  /** `undefined` before the first data line. */
  #data: string[] | undefined;
  #eventBytes = 0;

  push(chunk: Uint8Array): SseEvent[] {
    if (this.#isWholeLines(chunk)) return this.#pushLines(asBuffer(chunk).toString('utf8'));
    const events: SseEvent[] = [];
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i];
      if (byte !== LF && byte !== CR) {
        this.#isAfterCr = false;
        continue;
      }
      const isSecondHalf = byte === LF && this.#isAfterCr;
      this.#isAfterCr = byte === CR;
      if (!isSecondHalf) {
        this.#take(chunk.subarray(start, i), true);
        const event = this.#endLine();
        if (event !== undefined) events.push(event);
      }
      start = i + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start), false);
    return events;
  }

  end(): SseEvent[] {
    return [];
  }

  /**
   * Whether the chunk has only whole lines that end in line feeds, as most chunks do. Such a chunk
   * is decoded in one go, which takes half the time.
   */
  #isWholeLines(chunk: Uint8Array): boolean {
    return (
      this.#lineBytes === 0 &&
      !this.#isAfterCr &&
      chunk[chunk.length - 1] === LF &&
      this.#eventBytes + chunk.length <= SSE_EVENT_BYTES_MAX &&
      !chunk.includes(CR)
    );
  }

  #pushLines(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.#line = text.slice(start, end);
      this.#lineBytes = this.#line.length;
      const event = this.#endLine();
      if (event !== undefined) events.push(event);
      start = end + 1;
    }
    return events;
  }

  #take(piece: Uint8Array, isLineEnd: boolean): void {
    this.#lineBytes += piece.length;
    if (this.#eventBytes + this.#lineBytes > SSE_EVENT_BYTES_MAX) {
      throw new Refusal('upstream_broken', 'The upstream sent an event that is too large.', {
        isOversize: true,
      });
    }
    if (isLineEnd && this.#lineBytes === piece.length) {
      this.#line = asBuffer(piece).toString('utf8');
      return;
    }
    this.#begun ??= new GatheredBytes();
    this.#begun.add(piece);
    if (isLineEnd) this.#line = this.#begun.take().toString('utf8');
  }

  #endLine(): SseEvent | undefined {
    const line = this.#line;
    const text = this.#isFirstLine && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
    const event = this.#readLine(text, this.#lineBytes);
    this.#line = '';
    this.#lineBytes = 0;
    this.#isFirstLine = false;
    return event;
  }

  /** Takes one line of an event. */
  #readLine(line: string, lineBytes: number): SseEvent | undefined {
    if (line === '') return this.#finishEvent();
    const colon = line.indexOf(':');
    // A comment does not count towards any event: many comments may keep a silent stream alive.
    if (colon === 0) return undefined;
    this.#eventBytes += lineBytes;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'event') this.#event = value === '' ? undefined : value;
    else if (name === 'data') {
      if (this.#data === undefined) this.#data = [value];
      else this.#data.push(value);
    }
    return undefined;
  }

  #finishEvent(): SseEvent | undefined {
    const data = this.#data;
    const finished = data && { event: this.#event, data: data.join('\n') };
    this.#event = undefined;
    this.#data = undefined;
    this.#eventBytes = 0;
    return finished;
  }
}
