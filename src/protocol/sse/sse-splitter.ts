import * as ascii from '../../lib/bytes/ascii.ts';
import { GatheredBytes } from '../../lib/bytes/gathered-bytes.ts';
import { Refusal } from '../refusals.ts';
import { createSseDecoder, SSE_EVENT_BYTES_MAX, type SseEvent } from './sse-decoder.ts';

const { CR, LF } = ascii;

/**
 * The bytes up to and including an empty line, which ends in a line feed even if the upstream wrote
 * a carriage return alone; they may be a view of the chunk. A frame with only comments has no
 * event.
 */
export interface SseFrame {
  readonly bytes: Uint8Array;
  readonly event: SseEvent | undefined;
  /** Where the frame ends in the chunk that completes it. */
  readonly end: number;
}

/** Leaves room for comments, which are part of a frame but not of its event. */
const FRAME_BYTES_MAX = 2 * SSE_EVENT_BYTES_MAX;

/** Cuts a stream between its events. All frames joined are the lines of the stream. */
export function createSseSplitter(): SseSplitter {
  return new SseSplitter();
}

class SseSplitter {
  readonly #decoder = createSseDecoder();
  /** An incomplete frame. Made for the first one, since many streams have none. */
  #held: GatheredBytes | undefined;
  #heldBytes = 0;
  #isLineEmpty = true;
  #isAfterCr = false;

  /**
   * Whether nothing is held, so that the caller may take whole frames out of the chunk by itself.
   */
  isBetweenFrames(): boolean {
    return this.#isLineEmpty && !this.#isAfterCr && this.#heldBytes === 0;
  }

  /**
   * Prepares a chunk for reading. Each call of the returned function takes the next frame from
   * `start` on, until there is none left.
   */
  open(chunk: Uint8Array): (start: number) => SseFrame | undefined {
    const findEnd = createLineEndFinder(chunk);
    return (start) => this.#nextFrame(chunk, start, findEnd);
  }

  #nextFrame(chunk: Uint8Array, from: number, findEnd: LineEndFinder): SseFrame | undefined {
    const start = this.#takesLateLineFeed(chunk[from]) ? from + 1 : from;
    let lineStart = start;
    for (let i = findEnd(start); i !== -1; i = findEnd(lineStart)) {
      if (i > lineStart) this.#noteText();
      lineStart = i + 1;
      const isSecondHalf = chunk[i] === LF && this.#isAfterCr;
      this.#isAfterCr = chunk[i] === CR;
      if (isSecondHalf) continue;
      if (this.#isLineEmpty) {
        if (this.#isAfterCr && chunk[lineStart] === LF) {
          this.#isAfterCr = false;
          lineStart += 1;
        }
        const last = chunk.subarray(start, lineStart);
        const [event] = this.#decoder.push(last);
        return { bytes: this.#release(last), event, end: lineStart };
      }
      this.#isLineEmpty = true;
    }
    if (lineStart < chunk.length) this.#noteText();
    const rest = chunk.subarray(start);
    this.#decoder.push(rest);
    this.#hold(rest);
    return undefined;
  }

  /** Takes the second half of a line end that the frame before has got already. */
  #takesLateLineFeed(byte: number | undefined): boolean {
    if (!this.#isAfterCr || this.#heldBytes > 0 || byte !== LF) return false;
    this.#isAfterCr = false;
    return true;
  }

  #noteText(): void {
    this.#isLineEmpty = false;
    this.#isAfterCr = false;
  }

  #hold(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#heldBytes += piece.length;
    if (this.#heldBytes > FRAME_BYTES_MAX) {
      throw new Refusal('upstream_broken', 'The upstream sent an event that is too large.', {
        isOversize: true,
      });
    }
    this.#held ??= new GatheredBytes();
    this.#held.add(piece);
  }

  /** Many clients wait for what follows a carriage return before they read the event. */
  #release(last: Uint8Array): Uint8Array {
    const heldBytes = this.#heldBytes;
    if (heldBytes === 0 && !this.#isAfterCr) return last;
    const whole = new Uint8Array(heldBytes + last.length + (this.#isAfterCr ? 1 : 0));
    if (this.#held !== undefined && heldBytes > 0) whole.set(this.#held.take());
    whole.set(last, heldBytes);
    if (this.#isAfterCr) whole[whole.length - 1] = LF;
    this.#heldBytes = 0;
    return whole;
  }
}

type LineEndFinder = (start: number) => number;

/** Finds the next line feed or carriage return; -1 if there is none. `start` must never go back. */
function createLineEndFinder(chunk: Uint8Array): LineEndFinder {
  let lf = chunk.indexOf(LF);
  let cr = chunk.indexOf(CR);
  return (start) => {
    if (lf !== -1 && lf < start) lf = chunk.indexOf(LF, start);
    if (cr !== -1 && cr < start) cr = chunk.indexOf(CR, start);
    if (lf === -1 || cr === -1) return Math.max(lf, cr);
    return Math.min(lf, cr);
  };
}
