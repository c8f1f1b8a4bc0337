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

  /** The frames that this chunk completes; they may share its memory. */
  function* split(chunk: Uint8Array): Generator<SseFrame> {
    let frameStart = 0;
    let lineStart = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i];
      if (byte !== LF && byte !== CR) {
        isAfterCr = false;
        isLineEmpty = false;
        continue;
      }
      // The second half of a line end belongs to the next frame: it may be late, and means nothing there.
      const isSecondHalf = byte === LF && isAfterCr;
      isAfterCr = byte === CR;
      if (isSecondHalf) continue;
      const [event] = decoder.push(chunk.subarray(lineStart, i + 1));
      lineStart = i + 1;
      if (isLineEmpty) {
        yield { bytes: held.release(chunk.subarray(frameStart, i + 1)), event };
        frameStart = i + 1;
      }
      isLineEmpty = true;
    }
    decoder.push(chunk.subarray(lineStart));
    held.keep(chunk.subarray(frameStart));
  }

  return { split };
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
