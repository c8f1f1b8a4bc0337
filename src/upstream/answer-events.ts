import type { InferenceEvent } from '../protocol/inference.ts';

/** More than this waits at the socket, and from there on at the upstream. One event more may be of any size. */
const EVENTS_WAITING_MAX = 64;
const BYTES_WAITING_MAX = 64 * 1024;

interface Source {
  /** Nothing more is pushed, or a little that was on its way. */
  pause(): void;
  resume(): void;
  /** Whoever took the events has gone. */
  abort(): void;
}

export interface AnswerEvents {
  readonly iterator: AsyncIterator<InferenceEvent>;
  /** What so many bytes from the socket brought. */
  push(events: readonly InferenceEvent[], bytes: number): void;
  finish(): void;
  fail(error: unknown): void;
}

type Result = IteratorResult<InferenceEvent>;

const DONE: Result = { done: true, value: undefined };

/**
 * What a socket brings, for somebody who asks for one event at a time. Written by hand: a generator could not
 * be ended while it waits for the socket.
 */
export function createAnswerEvents(source: Source): AnswerEvents {
  const waiting: InferenceEvent[] = [];
  let end: { readonly error: unknown } | 'finished' | undefined;
  let asked: { resolve: (result: Result) => void; reject: (error: unknown) => void } | undefined;
  let isPaused = false;
  /** From the socket since nothing waited. */
  let bytesWaiting = 0;

  const answerAsked = () => {
    if (asked === undefined) return;
    const { resolve, reject } = asked;
    const next = waiting.shift();
    if (next === undefined && end === undefined) return;
    asked = undefined;
    if (next !== undefined) resolve({ done: false, value: next });
    else if (typeof end === 'object') reject(end.error);
    else resolve(DONE);
  };

  const close = (how: typeof end) => {
    end ??= how;
    answerAsked();
  };

  return {
    push(events, bytes) {
      if (end !== undefined) return;
      waiting.push(...events);
      answerAsked();
      bytesWaiting = waiting.length === 0 ? 0 : bytesWaiting + bytes;
      const isFull = waiting.length > EVENTS_WAITING_MAX || bytesWaiting > BYTES_WAITING_MAX;
      if (isFull && !isPaused) {
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
        if (waiting.length === 0) bytesWaiting = 0;
        if (isPaused && waiting.length === 0) {
          isPaused = false;
          source.resume();
        }
        return result;
      },
      async return() {
        if (end === undefined) source.abort();
        waiting.length = 0;
        close('finished');
        return DONE;
      },
    },
  };
}
