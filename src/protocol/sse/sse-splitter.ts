import * as ascii from '../../lib/bytes/ascii.ts';
import { Refusal } from '../refusals.ts';
import { createSseDecoder, SSE_EVENT_BYTES_MAX, type SseEvent } from './sse-decoder.ts';

const { CR, LF } = ascii;

/** The bytes up to and with an empty line, which may be those of the chunk; comments alone make no event. */
export interface SseFrame {
  readonly bytes: Uint8Array;
  readonly event: SseEvent | undefined;
  /** Where it ends in the chunk that completes it. */
  readonly end: number;
}

/** Room for comments too, which belong to no event but stand between its lines. */
const FRAME_BYTES_MAX = 2 * SSE_EVENT_BYTES_MAX;

/** Never written to. */
const NOTHING: Uint8Array[] = [];

/** Cuts a stream where one event ends and the next begins. All frames in a row are the stream itself. */
export function createSseSplitter(): SseSplitter {
  return new SseSplitter();
}

/** A class, because one is made for every stream. */
class SseSplitter {
  readonly #decoder = createSseDecoder();
  /** What there is of a frame so far. */
  #held: Uint8Array[] = NOTHING;
  #heldBytes = 0;
  #isLineEmpty = true;
  #isAfterCr = false;

  /** Nothing is held, so that whole frames may be left out. */
  isBetweenFrames(): boolean {
    return this.#isLineEmpty && !this.#isAfterCr && this.#heldBytes === 0;
  }

  /** Reads a chunk from its beginning: each call takes the next frame, from `start` on, as long as there is one. */
  open(chunk: Uint8Array): (start: number) => SseFrame | undefined {
    const findEnd = createLineEndFinder(chunk);
    return (start) => this.#nextFrame(chunk, start, findEnd);
  }

  #nextFrame(chunk: Uint8Array, start: number, findEnd: LineEndFinder): SseFrame | undefined {
    let lineStart = start;
    for (let i = findEnd(start); i !== -1; i = findEnd(lineStart)) {
      if (i > lineStart) this.#noteText();
      lineStart = i + 1;
      // The second half of a line end belongs to the next frame: it may be late, and means nothing there.
      const isSecondHalf = chunk[i] === LF && this.#isAfterCr;
      this.#isAfterCr = chunk[i] === CR;
      if (isSecondHalf) continue;
      if (this.#isLineEmpty) {
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

  #noteText(): void {
    this.#isLineEmpty = false;
    this.#isAfterCr = false;
  }

  #hold(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#heldBytes += piece.length;
    if (this.#heldBytes > FRAME_BYTES_MAX) {
      throw new Refusal('upstream_broken', 'The upstream sent an event that is too large.');
    }
    // A copy: whoever gave the chunk may use its memory again.
    const copy = new Uint8Array(piece);
    if (this.#held === NOTHING) this.#held = [copy];
    else this.#held.push(copy);
  }

  #release(last: Uint8Array): Uint8Array {
    if (this.#held === NOTHING) return last;
    const whole = new Uint8Array(this.#heldBytes + last.length);
    let end = 0;
    for (const piece of [...this.#held, last]) {
      whole.set(piece, end);
      end += piece.length;
    }
    this.#held = NOTHING;
    this.#heldBytes = 0;
    return whole;
  }
}

type LineEndFinder = (start: number) => number;

/** Where the next line feed or carriage return is, from ever later places on; -1 where there is none. */
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
