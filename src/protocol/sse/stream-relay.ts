import { countContentBytes } from '../answers/count-content-bytes.ts';
import type { Closing, InferenceEvent } from '../inference.ts';
import { Refusal } from '../refusals.ts';
import { createSseSplitter, type SseFrame } from './sse-splitter.ts';

/** What becomes of a piece of an upstream's stream. */
export interface RelayedPart {
  /** To be sent on in this order: whole events only, so that a word of ours may follow at any time. */
  readonly bytes: readonly Uint8Array[];
  /** What the same bytes say, for whoever counts; the deltas are counted already. */
  readonly events: readonly InferenceEvent[];
  readonly contentBytes: number;
  /** What follows the bytes, with the finish. */
  readonly closing: Closing | undefined;
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
  /** Of the last one, where it tells usage. */
  readonly closing?: Closing;
}

/** Frames in a row that say nothing but text. */
export interface RelayedRun {
  readonly bytes: Uint8Array;
  readonly contentBytes: number;
  /** Where they end in their chunk. */
  readonly end: number;
}

/** The part of it in which formats differ. The first and the last throw a `Refusal` when the upstream fails. */
export interface FrameRelay {
  relay(frame: SseFrame): RelayedFrame;
  /** The frames from `start` on that take no reading; `undefined` where there are none. */
  skim(chunk: Uint8Array, start: number): RelayedRun | undefined;
  end(): RelayedFrame;
}

const NO_EVENTS: readonly InferenceEvent[] = [];

export function createStreamRelay(frames: FrameRelay): StreamRelay {
  return new SseStreamRelay(frames);
}

/** A class, because one is made for every stream. */
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

  /** Most reads bring nothing but whole frames of text: they go on as they are, with nothing made for each but this. */
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
    /** Whether it was the last one. */
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
