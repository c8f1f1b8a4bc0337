import type { InferenceEvent } from './inference.ts';
import { Refusal } from './refusals.ts';
import { createSseSplitter, type SseFrame } from './split-sse.ts';

/** What becomes of a piece of an upstream's stream. */
export interface RelayedPart {
  /** To be sent on in this order: whole events only, so that a word of ours may follow at any time. */
  readonly bytes: readonly Uint8Array[];
  /** What the same bytes say, for whoever counts. */
  readonly events: readonly InferenceEvent[];
  /** The upstream failed behind these bytes, and nothing of it follows. */
  readonly refusal: Refusal | undefined;
}

/** Passes a stream on in the format in which it comes, and reads it on the way. */
export interface StreamRelay {
  push(chunk: Uint8Array): RelayedPart;
  /** Nothing more comes. */
  end(): RelayedPart;
}

export interface RelayedFrame {
  readonly bytes: readonly Uint8Array[];
  readonly events: readonly InferenceEvent[];
}

/** The part of it in which formats differ. Both throw a `Refusal` when the upstream fails. */
interface FrameRelay {
  relay(frame: SseFrame): RelayedFrame;
  end(): RelayedFrame;
}

export function createStreamRelay(frames: FrameRelay): StreamRelay {
  const splitter = createSseSplitter();
  let isOver = false;

  const collect = (add: (take: (relayed: RelayedFrame) => void) => void): RelayedPart => {
    const bytes: Uint8Array[] = [];
    const events: InferenceEvent[] = [];
    let refusal: Refusal | undefined;
    try {
      add((relayed) => {
        for (const piece of relayed.bytes) appendBytes(bytes, piece);
        for (const event of relayed.events) events.push(event);
        isOver ||= relayed.events.at(-1)?.type === 'finish';
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusal = error;
      isOver = true;
    }
    return { bytes, events, refusal };
  };

  return {
    push: (chunk) =>
      collect((take) => {
        if (isOver) return;
        for (const frame of splitter.split(chunk)) {
          take(frames.relay(frame));
          if (isOver) return;
        }
      }),
    end: () =>
      collect((take) => {
        if (!isOver) take(frames.end());
      }),
  };
}

const encoder = new TextEncoder();

export function encodeUtf8(text: string): readonly Uint8Array[] {
  return text === '' ? [] : [encoder.encode(text)];
}

/** Neighbours in one chunk go on as one. */
function appendBytes(pieces: Uint8Array[], piece: Uint8Array): void {
  const last = pieces.at(-1);
  if (last?.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset) {
    pieces.pop();
    pieces.push(new Uint8Array(last.buffer, last.byteOffset, last.length + piece.length));
  } else {
    pieces.push(piece);
  }
}
