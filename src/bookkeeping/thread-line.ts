import { BooksError, type BooksErrorCode } from '../books/questions/books-error.ts';
import { createDeferred } from '../lib/time/deferred.ts';
import type { MessageFromAnswerer, MessageToAnswerer, QuestionFailure } from './thread-messages.ts';

/**
 * The most questions at once; further ones are refused. A question that nobody waits for any more
 * counts until the thread is done with it, because the database may still be working on it.
 */
export const QUESTIONS_MAX = 64;

/** Asks the thread that answers questions about the books. */
export interface ThreadLine {
  ask(name: string, query: unknown, signal?: AbortSignal): Promise<unknown>;
  stream(name: string, query: unknown, signal?: AbortSignal): AsyncIterable<string>;
  /** No question is under way. */
  isIdle(): boolean;
  /** Call this with each message of the thread. */
  take(message: MessageFromAnswerer): void;
  /** The thread has ended: all open questions fail. */
  breakOff(): void;
}

interface OpenAnswer {
  readonly take: (message: MessageFromAnswerer) => void;
}

const LEFT: OpenAnswer = { take: () => {} };

export function createThreadLine(send: (message: MessageToAnswerer) => void): ThreadLine {
  const underWay = new Map<number, OpenAnswer>();
  let lastId = 0;

  const open = (name: string, query: unknown, take: OpenAnswer['take']): number => {
    if (underWay.size >= QUESTIONS_MAX) {
      throw new BooksError('books_busy', 'too many questions are asked of the books at once');
    }
    lastId += 1;
    underWay.set(lastId, { take });
    send({ type: 'ask', id: lastId, name, query });
    return lastId;
  };

  const leave = (id: number) => {
    if (!underWay.has(id)) return;
    underWay.set(id, LEFT);
    send({ type: 'cancel', id });
  };

  return {
    ask: (name, query, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const id = open(name, query, (message) => {
          signal?.removeEventListener('abort', stopWaiting);
          if (message.type === 'answer') resolve(message.answer);
          else reject(revive(message.type === 'failed' ? message.failure : undefined));
        });
        const stopWaiting = () => {
          leave(id);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', stopWaiting, { once: true });
      }),

    stream: (name, query, signal) => readStream({ open, leave, send }, { name, query, signal }),

    isIdle: () => underWay.size === 0,

    take(message) {
      const answer = underWay.get(message.id);
      if (message.type !== 'part') underWay.delete(message.id);
      answer?.take(message);
    },

    breakOff() {
      const broken = [...underWay];
      underWay.clear();
      for (const [id, { take }] of broken) take({ type: 'failed', id, failure: BROKEN });
    },
  };
}

interface StreamLine {
  open(name: string, query: unknown, take: OpenAnswer['take']): number;
  leave(id: number): void;
  send(message: MessageToAnswerer): void;
}

interface StreamQuestion {
  readonly name: string;
  readonly query: unknown;
  readonly signal: AbortSignal | undefined;
}

async function* readStream(
  { open, leave, send }: StreamLine,
  { name, query, signal }: StreamQuestion,
): AsyncGenerator<string, void, undefined> {
  signal?.throwIfAborted();
  const messages: MessageFromAnswerer[] = [];
  let news = createDeferred();
  const id = open(name, query, (message) => {
    messages.push(message);
    news.resolve();
  });
  const wake = () => news.resolve();
  signal?.addEventListener('abort', wake, { once: true });
  try {
    for (;;) {
      const message = messages.shift();
      signal?.throwIfAborted();
      if (message?.type === 'end') return;
      if (message?.type === 'failed') throw revive(message.failure);
      if (message?.type === 'part') {
        yield message.text;
        send({ type: 'more', id });
      } else {
        await news.promise;
        news = createDeferred();
      }
    }
  } finally {
    signal?.removeEventListener('abort', wake);
    leave(id);
  }
}

const BROKEN: QuestionFailure = {
  code: 'books_unavailable',
  message: 'the thread that answers questions about the books has ended: ask again',
};

function revive(failure: QuestionFailure | undefined): Error {
  if (failure?.code === undefined) return new Error(failure?.message ?? 'the answer was not one');
  return new BooksError(failure.code as BooksErrorCode, failure.message);
}
