import { createSseDecoder, SSE_EVENT_BYTES_MAX, type SseEvent } from './decode-sse.ts';
import { Refusal } from './refusals.ts';

/** The bytes up to and with an empty line; comments alone make no event. */
export interface SseFrame {
  readonly bytes: Uint8Array;
  readonly event: SseEvent | undefined;
}

/** Room for comments too, which belong to no event but stand between its lines. */
const FRAME_BYTES_MAX = 2 * SSE_EVENT_BYTES_MAX;

const LF = 0x0a;
const CR = 0x0d;

/** Cuts a stream where one event ends and the next begins. All frames in a row are the stream itself. */
export function createSseSplitter() {
  const decoder = createSseDecoder();
  const held = createHeldBytes();
  let isLineEmpty = true;
  let isAfterCr = false;

  const noteText = () => {
    isLineEmpty = false;
    isAfterCr = false;
  };

  /** The frames that this chunk completes; they may share its memory. */
  function* split(chunk: Uint8Array): Generator<SseFrame> {
    const findEnd = createLineEndFinder(chunk);
    let frameStart = 0;
    let lineStart = 0;
    for (let i = findEnd(0); i !== -1; i = findEnd(lineStart)) {
      if (i > lineStart) noteText();
      lineStart = i + 1;
      // The second half of a line end belongs to the next frame: it may be late, and means nothing there.
      const isSecondHalf = chunk[i] === LF && isAfterCr;
      isAfterCr = chunk[i] === CR;
      if (isSecondHalf) continue;
      if (isLineEmpty) {
        const end = chunk.subarray(frameStart, lineStart);
        frameStart = lineStart;
        const [event] = decoder.push(end);
        yield { bytes: held.release(end), event };
      }
      isLineEmpty = true;
    }
    if (lineStart < chunk.length) noteText();
    const rest = chunk.subarray(frameStart);
    decoder.push(rest);
    held.keep(rest);
  }

  return { split };
}

/** Where the next line feed or carriage return is, from ever later places on; -1 where there is none. */
function createLineEndFinder(chunk: Uint8Array): (start: number) => number {
  let lf = chunk.indexOf(LF);
  let cr = chunk.indexOf(CR);
  return (start) => {
    if (lf !== -1 && lf < start) lf = chunk.indexOf(LF, start);
    if (cr !== -1 && cr < start) cr = chunk.indexOf(CR, start);
    if (lf === -1 || cr === -1) return Math.max(lf, cr);
    return Math.min(lf, cr);
  };
}

/** What there is of a frame so far. */
function createHeldBytes() {
  let pieces: Uint8Array[] = [];
  let length = 0;

  return {
    keep(piece: Uint8Array): void {
      if (piece.length === 0) return;
      length += piece.length;
      if (length > FRAME_BYTES_MAX) {
        throw new Refusal('upstream_broken', 'The upstream sent an event that is too large.');
      }
      // A copy: whoever gave the chunk may use its memory again.
      pieces.push(piece.slice());
    },
    release(last: Uint8Array): Uint8Array {
      if (pieces.length === 0) return last;
      const whole = new Uint8Array(length + last.length);
      let end = 0;
      for (const piece of [...pieces, last]) {
        whole.set(piece, end);
        end += piece.length;
      }
      pieces = [];
      length = 0;
      return whole;
    },
  };
}
