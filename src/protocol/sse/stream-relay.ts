import { countContentBytes } from '../answers/count-content-bytes.ts';
import type { Closing, InferenceEvent } from '../inference.ts';
import { Refusal } from '../refusals.ts';
import { createSseSplitter, type SseFrame } from './sse-splitter.ts';

/** What a piece of an upstream's stream turns into. */
export interface RelayedPart {
  /**
   * The bytes to send on, in this order. They are whole events, so the gateway may write an event
   * of its own after them at any time.
   */
  readonly bytes: readonly Uint8Array[];
  /**
   * What the same bytes say, for the meter. Deltas are not among the events: `contentBytes` has
   * their length.
   */
  readonly events: readonly InferenceEvent[];
  readonly contentBytes: number;
  /** Writes the end of the answer, which follows the bytes; set together with the finish event. */
  readonly closing: Closing | undefined;
  /** Set if the upstream failed after these bytes. Nothing of the stream follows. */
  readonly refusal: Refusal | undefined;
}

/** Passes a stream on in its own format, and reads it on the way. */
export interface StreamRelay {
  push(chunk: Uint8Array): RelayedPart;
  /** Says that the stream has ended. */
  end(): RelayedPart;
}

export interface RelayedFrame {
  readonly bytes: readonly Uint8Array[];
  readonly events: readonly InferenceEvent[];
  /** Writes the last frame of a stream, which tells the usage. */
  readonly closing?: Closing;
}

/** Consecutive frames that contain nothing but text. */
export interface RelayedRun {
  readonly bytes: Uint8Array;
  readonly contentBytes: number;
  /** Where the frames end in their chunk. */
  readonly end: number;
}

/**
 * The format-specific part of a relay. `relay` and `end` throw a `Refusal` if the upstream fails.
 */
export interface FrameRelay {
  relay(frame: SseFrame): RelayedFrame;
  /** Returns the frames from `start` on that need no parsing; `undefined` if there are none. */
  skim(chunk: Uint8Array, start: number): RelayedRun | undefined;
  end(): RelayedFrame;
}

const NO_EVENTS: readonly InferenceEvent[] = [];

export function createStreamRelay(frames: FrameRelay): StreamRelay {
  return new SseStreamRelay(frames);
}

class SseStreamRelay implements StreamRelay {
  readonly #frames: FrameRelay;
  readonly #splitter = createSseSplitter();
  #isOver = false;

  constructor(frames: FrameRelay) {
    this.#frames = frames;
  }

  push(chunk: Uint8Array): RelayedPart {
    return this.#pushTexts(chunk) ?? this.#collect((part) => this.#pushAll(chunk, part));
  }

  end(): RelayedPart {
    return this.#collect((part) => {
      this.#isOver = part.addFrame(this.#frames.end());
    });
  }

  /**
   * Handles a chunk of whole text frames, which most chunks are. The bytes go on as they are, and
   * this object is all that is made for them.
   */
  #pushTexts(chunk: Uint8Array): RelayedPart | undefined {
    if (this.#isOver || !this.#splitter.isBetweenFrames()) return undefined;
    const run = this.#frames.skim(chunk, 0);
    if (run?.end !== chunk.length) return undefined;
    const { bytes, contentBytes } = run;
    return {
      bytes: [bytes],
      events: NO_EVENTS,
      contentBytes,
      closing: undefined,
      refusal: undefined,
    };
  }

  #pushAll(chunk: Uint8Array, part: GrowingPart): void {
    const nextFrame = this.#splitter.open(chunk);
    let start = 0;
    while (start < chunk.length && !this.#isOver) {
      const run = this.#splitter.isBetweenFrames() ? this.#frames.skim(chunk, start) : undefined;
      if (run !== undefined) {
        part.addRun(run);
        start = run.end;
        continue;
      }
      const frame = nextFrame(start);
      if (frame === undefined) return;
      start = frame.end;
      this.#isOver = part.addFrame(this.#frames.relay(frame));
    }
  }

  #collect(add: (part: GrowingPart) => void): RelayedPart {
    const part = createGrowingPart();
    if (this.#isOver) return part.finish(undefined);
    try {
      add(part);
      return part.finish(undefined);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#isOver = true;
      return part.finish(error);
    }
  }
}

type GrowingPart = ReturnType<typeof createGrowingPart>;

function createGrowingPart() {
  const bytes: Uint8Array[] = [];
  const events: InferenceEvent[] = [];
  let contentBytes = 0;
  let closing: Closing | undefined;

  return {
    addRun(run: RelayedRun): void {
      appendBytes(bytes, run.bytes);
      contentBytes += run.contentBytes;
    },
    /** Returns whether this is the last frame. */
    addFrame(relayed: RelayedFrame): boolean {
      for (const piece of relayed.bytes) appendBytes(bytes, piece);
      closing = relayed.closing;
      for (const event of relayed.events) {
        if (event.type === 'delta') contentBytes += countContentBytes(event.delta);
        else events.push(event);
      }
      return relayed.events.at(-1)?.type === 'finish';
    },
    finish: (refusal: Refusal | undefined): RelayedPart => ({
      bytes,
      events,
      contentBytes,
      closing,
      refusal,
    }),
  };
}

const encoder = new TextEncoder();

export function encodeUtf8(text: string): readonly Uint8Array[] {
  return text === '' ? [] : [encoder.encode(text)];
}

/** Joins two neighbouring views of one chunk into one view. */
function appendBytes(pieces: Uint8Array[], piece: Uint8Array): void {
  const last = pieces.at(-1);
  if (last?.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset) {
    pieces.pop();
    pieces.push(new Uint8Array(last.buffer, last.byteOffset, last.length + piece.length));
  } else {
    pieces.push(piece);
  }
}
