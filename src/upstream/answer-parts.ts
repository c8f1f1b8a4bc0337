import type { AnswerPart, InferenceEvent } from '../protocol/inference.ts';

/** More than this waits at the socket, and from there on at the upstream. One event more may be of any size. */
const BYTES_WAITING_MAX = 16 * 1024;

interface Source {
  /** Nothing more is pushed, or a little that was on its way. */
  pause(): void;
  resume(): void;
  /** Whoever took the parts has gone. */
  abort(): void;
}

export interface PushedPart {
  readonly events: readonly InferenceEvent[];
  readonly contentBytes: number;
  /** `undefined` where the client reads another form. */
  readonly bytes: readonly Uint8Array[] | undefined;
}

export interface AnswerParts {
  readonly iterator: AsyncIterator<AnswerPart>;
  /** What so many bytes from the socket brought. */
  push(part: PushedPart, readBytes: number): void;
  finish(): void;
  fail(error: unknown): void;
}

type Result = IteratorResult<AnswerPart>;

const DONE: Result = { done: true, value: undefined };

/**
 * What a socket brings, for somebody who asks for one part at a time: all that came in one read goes on as one.
 * Written by hand, because a generator could not be ended while it waits for the socket.
 */
export function createAnswerParts(source: Source): AnswerParts {
  const waiting = createWaitingPart();
  let end: { readonly error: unknown } | 'finished' | undefined;
  let asked: { resolve: (result: Result) => void; reject: (error: unknown) => void } | undefined;
  let isPaused = false;
  let isAnswering = false;

  const answerAsked = () => {
    isAnswering = false;
    if (asked === undefined || (waiting.isEmpty() && end === undefined)) return;
    const { resolve, reject } = asked;
    asked = undefined;
    if (!waiting.isEmpty()) resolve({ done: false, value: waiting.take() });
    else if (typeof end === 'object') reject(end.error);
    else resolve(DONE);
    if (isPaused) {
      isPaused = false;
      source.resume();
    }
  };
  /** Behind everything else that the same read brings. */
  const answerSoon = () => {
    if (asked === undefined || isAnswering) return;
    isAnswering = true;
    queueMicrotask(answerAsked);
  };
  const close = (how: typeof end) => {
    end ??= how;
    answerSoon();
  };

  return {
    push(part, readBytes) {
      if (end !== undefined) return;
      waiting.add(part, readBytes);
      answerSoon();
      if (waiting.isFull() && !isPaused) {
        isPaused = true;
        source.pause();
      }
    },
    finish: () => close('finished'),
    fail: (error) => close({ error }),
    iterator: {
      next() {
        const result = new Promise<Result>((resolve, reject) => {
          asked = { resolve, reject };
        });
        answerAsked();
        return result;
      },
      async return() {
        if (end === undefined) source.abort();
        waiting.take();
        close('finished');
        return DONE;
      },
    },
  };
}

function createWaitingPart() {
  let events: InferenceEvent[] = [];
  let pieces: Uint8Array[] | undefined;
  let contentBytes = 0;
  let readBytes = 0;

  const isEmpty = () => events.length === 0 && (pieces === undefined || pieces.length === 0);
  return {
    isEmpty,
    // The beginning of an event is nothing that anybody could take, however long it is.
    isFull: () => readBytes > BYTES_WAITING_MAX && !isEmpty(),
    add(part: PushedPart, bytes: number) {
      readBytes += bytes;
      contentBytes += part.contentBytes;
      for (const event of part.events) events.push(event);
      if (part.bytes === undefined) return;
      pieces ??= [];
      for (const piece of part.bytes) pieces.push(piece);
    },
    take(): AnswerPart {
      const [first, ...others] = pieces ?? [];
      const whole = first !== undefined && others.length === 0 ? first : undefined;
      const part = { events, contentBytes, bytes: whole ?? (pieces && Buffer.concat(pieces)) };
      events = [];
      pieces = undefined;
      contentBytes = 0;
      readBytes = 0;
      return part;
    },
  };
}
