import { countContentBytes } from '../answers/count-content-bytes.ts';
import type { Closing, InferenceEvent } from '../inference.ts';
import { Refusal } from '../refusals.ts';
import { isBlankEvent } from './sse-decoder.ts';
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
  /** How many of these follow the last usage among the events, if there is one. */
  readonly unreportedBytes: number | undefined;
  /** Writes the end of the answer, which follows the bytes; set together with the finish event. */
  readonly closing: Closing | undefined;
  /** Set if the upstream failed after these bytes. Nothing of the stream follows. */
  readonly refusal: Refusal | undefined;
  /** The number of the event that follows the bytes, if events of this format have numbers. */
  readonly nextNumber: number | undefined;
}

/** Passes a stream on in its own format, and reads it on the way. */
export interface StreamRelay {
  push(chunk: Uint8Array): RelayedPart;
  /** Says that the stream has ended. */
  end(): RelayedPart;
  /** Whether the last chunk ended an event, even one that is not passed on. */
  readonly hasReadFrame: boolean;
}

export interface RelayedFrame {
  readonly bytes: readonly Uint8Array[];
  readonly events: readonly InferenceEvent[];
  /**
   * The length of what the bytes say beyond the events, less what events say that earlier bytes
   * said.
   */
  readonly undecodedBytes?: number;
  /** Writes the last frame of a stream, which reports the usage. */
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
  /**
   * Reads the frames from `start` on that need no parsing; `undefined` if there are none. What is
   * returned counts as relayed.
   */
  skim(chunk: Uint8Array, start: number): RelayedRun | undefined;
  end(): RelayedFrame;
  /** The number of the next event, if events of this format have numbers. */
  readonly nextNumber?: number;
}

const NO_EVENTS: readonly InferenceEvent[] = [];

export function createStreamRelay(frames: FrameRelay): StreamRelay {
  return new SseStreamRelay(frames);
}

class SseStreamRelay implements StreamRelay {
  readonly #frames: FrameRelay;
  readonly #splitter = createSseSplitter();
  hasReadFrame = false;
  #isOver = false;

  constructor(frames: FrameRelay) {
    this.#frames = frames;
  }

  push(chunk: Uint8Array): RelayedPart {
    this.hasReadFrame = false;
    const isReady = !this.#isOver && this.#splitter.isBetweenFrames();
    const run = isReady ? this.#frames.skim(chunk, 0) : undefined;
    if (run?.end === chunk.length) return this.#relayTexts(run);
    return this.#collect((part) => this.#pushAll(chunk, part, run));
  }

  end(): RelayedPart {
    return this.#collect((part) => {
      this.#isOver = part.addFrame(this.#frames.end());
    });
  }

  /**
   * Handles a chunk of whole text frames, which most chunks are. The bytes are sent on as they
   * are, and this object is all that is made for them.
   */
  #relayTexts({ bytes, contentBytes }: RelayedRun): RelayedPart {
    return {
      bytes: [bytes],
      events: NO_EVENTS,
      contentBytes,
      unreportedBytes: undefined,
      closing: undefined,
      refusal: undefined,
      nextNumber: this.#frames.nextNumber,
    };
  }

  /** The frames of `first`, at the beginning of the chunk, are already read. */
  #pushAll(chunk: Uint8Array, part: GrowingPart, first: RelayedRun | undefined): void {
    const nextFrame = this.#splitter.open(chunk);
    let start = first?.end ?? 0;
    if (first !== undefined) part.addRun(first);
    while (start < chunk.length && !this.#isOver) {
      const run = this.#splitter.isBetweenFrames() ? this.#frames.skim(chunk, start) : undefined;
      if (run !== undefined) {
        part.addRun(run);
        start = run.end;
        continue;
      }
      const frame = nextFrame(start);
      if (frame === undefined) return;
      this.hasReadFrame = true;
      start = frame.end;
      if (frame.event !== undefined && isBlankEvent(frame.event)) continue;
      this.#isOver = part.addFrame(this.#frames.relay(frame));
    }
  }

  #collect(add: (part: GrowingPart) => void): RelayedPart {
    const part = createGrowingPart();
    const frames = this.#frames;
    if (this.#isOver) return part.finish(undefined, frames.nextNumber);
    try {
      add(part);
      return part.finish(undefined, frames.nextNumber);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#isOver = true;
      return part.finish(error, frames.nextNumber);
    }
  }
}

type GrowingPart = ReturnType<typeof createGrowingPart>;

function createGrowingPart() {
  const bytes: Uint8Array[] = [];
  const events: InferenceEvent[] = [];
  let contentBytes = 0;
  /** The bytes up to the last usage. */
  let reportedBytes: number | undefined;
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
      contentBytes += relayed.undecodedBytes ?? 0;
      for (const event of relayed.events) {
        if (event.type === 'delta') contentBytes += countContentBytes(event.delta);
        else events.push(event);
        if (event.type === 'usage') reportedBytes = contentBytes;
      }
      return relayed.events.at(-1)?.type === 'finish';
    },
    finish: (refusal: Refusal | undefined, nextNumber: number | undefined): RelayedPart => ({
      bytes,
      events,
      contentBytes,
      unreportedBytes: reportedBytes === undefined ? undefined : contentBytes - reportedBytes,
      closing,
      refusal,
      nextNumber,
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
