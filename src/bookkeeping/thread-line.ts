import { BooksError, type BooksErrorCode } from '../books/questions/books-error.ts';
import type { MessageFromAnswerer, MessageToAnswerer, QuestionFailure } from './thread-messages.ts';

/** Questions under way at once; a question beyond is refused. */
const QUESTIONS_MAX = 64;

/** Asks the thread that answers questions about the books. */
export interface ThreadLine {
  ask(name: string, query: unknown, signal?: AbortSignal): Promise<unknown>;
  stream(name: string, query: unknown, signal?: AbortSignal): AsyncIterable<string>;
  /** Nobody waits for an answer. */
  isIdle(): boolean;
  /** To be called with what the thread says. */
  take(message: MessageFromAnswerer): void;
  /** The thread has ended: whoever waits is told so. */
  breakOff(): void;
}

interface OpenAnswer {
  readonly take: (message: MessageFromAnswerer) => void;
}

export function createThreadLine(tell: (message: MessageToAnswerer) => void): ThreadLine {
  const waiting = new Map<number, OpenAnswer>();
  let lastId = 0;

  const open = (name: string, query: unknown, take: OpenAnswer['take']): number => {
    if (waiting.size >= QUESTIONS_MAX) {
      throw new BooksError('books_busy', 'too many questions are asked of the books at once');
    }
    lastId += 1;
    waiting.set(lastId, { take });
    tell({ type: 'ask', id: lastId, name, query });
    return lastId;
  };

  const close = (id: number) => {
    if (waiting.delete(id)) tell({ type: 'cancel', id });
  };

  return {
    ask: (name, query, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const id = open(name, query, (message) => {
          waiting.delete(id);
          signal?.removeEventListener('abort', leave);
          if (message.type === 'answer') resolve(message.answer);
          else reject(revive(message.type === 'failed' ? message.failure : undefined));
        });
        const leave = () => {
          close(id);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', leave, { once: true });
      }),

    stream: (name, query, signal) => readStream({ open, close, tell }, { name, query, signal }),

    isIdle: () => waiting.size === 0,

    take(message) {
      waiting.get(message.id)?.take(message);
    },

    breakOff() {
      const broken = [...waiting];
      waiting.clear();
      for (const [id, { take }] of broken) take({ type: 'failed', id, failure: BROKEN });
    },
  };
}

interface StreamLine {
  open(name: string, query: unknown, take: OpenAnswer['take']): number;
  close(id: number): void;
  tell(message: MessageToAnswerer): void;
}

interface StreamQuestion {
  readonly name: string;
  readonly query: unknown;
  readonly signal: AbortSignal | undefined;
}

async function* readStream(
  { open, close, tell }: StreamLine,
  { name, query, signal }: StreamQuestion,
): AsyncGenerator<string, void, undefined> {
  signal?.throwIfAborted();
  const messages: MessageFromAnswerer[] = [];
  let wake = () => {};
  const id = open(name, query, (message) => {
    messages.push(message);
    wake();
  });
  const leave = () => wake();
  signal?.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      const message = messages.shift();
      signal?.throwIfAborted();
      if (message?.type === 'end') return;
      if (message?.type === 'failed') throw revive(message.failure);
      if (message?.type === 'part') {
        yield message.text;
        tell({ type: 'more', id });
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (messages.length > 0 || signal?.aborted === true) resolve();
        });
      }
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    close(id);
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
