import type { InferenceEvent } from '../protocol/inference.ts';

/** More than this waits at the socket, and from there on at the upstream. */
const EVENTS_WAITING_MAX = 64;

interface Source {
  /** Nothing more is pushed, or a little that was on its way. */
  pause(): void;
  resume(): void;
  /** Whoever took the events has gone. */
  abort(): void;
}

export interface AnswerEvents {
  readonly iterator: AsyncIterator<InferenceEvent>;
  push(events: readonly InferenceEvent[]): void;
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
    push(events) {
      if (end !== undefined) return;
      waiting.push(...events);
      answerAsked();
      if (waiting.length > EVENTS_WAITING_MAX && !isPaused) {
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
