import type { MessagePort } from 'node:worker_threads';
import { BooksError } from '../books/questions/books-error.ts';
import { createDeferred } from '../lib/time/deferred.ts';
import type { BoundQuestions } from './answers.ts';
import type { MessageFromAnswerer, MessageToAnswerer, QuestionFailure } from './thread-messages.ts';

interface OpenQuestion {
  readonly closing: AbortController;
  /** Releases the next part of a streamed answer. */
  wantMore: () => void;
}

/** Answers the primary's questions to this thread. Streamed answers send one part at a time. */
export function serveQuestions(port: MessagePort, answers: BoundQuestions): void {
  const open = new Map<number, OpenQuestion>();
  const send = (message: MessageFromAnswerer) => port.postMessage(message);

  const stream = async (id: number, parts: AsyncIterable<string>, question: OpenQuestion) => {
    const { signal } = question.closing;
    signal.addEventListener('abort', () => question.wantMore(), { once: true });
    for await (const text of parts) {
      const wanted = createDeferred();
      question.wantMore = wanted.resolve;
      if (signal.aborted) break;
      if (text === '') continue;
      send({ type: 'part', id, text });
      await wanted.promise;
    }
    send({ type: 'end', id });
  };

  const answer = async (id: number, name: string, query: unknown) => {
    const question: OpenQuestion = { closing: new AbortController(), wantMore: () => {} };
    open.set(id, question);
    try {
      const ask = answers[name];
      if (ask === undefined) throw new Error(`there is no question ${name}`);
      const found = ask(query as never, question.closing.signal);
      if (found instanceof Promise) send({ type: 'answer', id, answer: await found });
      else await stream(id, found, question);
    } catch (error) {
      send({ type: 'failed', id, failure: describeFailure(error) });
    } finally {
      open.delete(id);
    }
  };

  port.on('message', (message: MessageToAnswerer) => {
    if (message.type === 'ask') void answer(message.id, message.name, message.query);
    else if (message.type === 'more') open.get(message.id)?.wantMore();
    else if (message.type === 'cancel') open.get(message.id)?.closing.abort();
  });
}

function describeFailure(error: unknown): QuestionFailure {
  if (error instanceof BooksError) return { code: error.code, message: error.message };
  return { code: undefined, message: error instanceof Error ? `${error.stack}` : String(error) };
}
