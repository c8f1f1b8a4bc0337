import { MessageChannel } from 'node:worker_threads';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { bindAnswers } from '../../src/bookkeeping/answers.ts';
import { serveQuestions } from '../../src/bookkeeping/serve-questions.ts';
import { createThreadLine } from '../../src/bookkeeping/thread-line.ts';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { createRowBudget } from '../../src/books/questions/row-budget.ts';
import { createBooksOpener, createFileTarget, makeEntry } from '../books/books-scene.ts';
import { contextOf, enter } from '../books/questions/questions-scene.ts';
import { useRedis } from '../books/use-redis.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';

const ROWS = 150;
/** What is left beside three such questions is too little for another. */
const ROWS_MAX = 3 * ROWS + ROWS / 2;
const BY_MODEL = { by: ['model'] };

const redis = useRedis();
const cleanUp = useCleanUp();
const openBooks = createBooksOpener(cleanUp);

async function openLine() {
  const books = openBooks(createFileTarget(cleanUp));
  await migrateBooks(books, Date.now());
  await enter(
    books,
    Array.from({ length: ROWS }, (_, seq) => makeEntry({ seq, model: `model ${seq}` })),
  );
  const budget = createRowBudget(ROWS_MAX);
  const { port1, port2 } = new MessageChannel();
  serveQuestions(port2, bindAnswers(contextOf(books, redis), budget));
  const line = createThreadLine((message) => port1.postMessage(message));
  port1.on('message', line.take);
  onTestFinished(() => port1.close());
  const ask = (query: object = BY_MODEL, signal?: AbortSignal) =>
    line.stream('printUsage', query, signal)[Symbol.asyncIterator]();
  // One that is alone has no bound, unless something is counted that nobody keeps.
  const isNothingCounted = () => budget.open().room() === Number.POSITIVE_INFINITY;
  return { ask, line, books, isNothingCounted };
}

async function readRows(parts: AsyncIterator<string>): Promise<number> {
  let text = '';
  for (let part = await parts.next(); part.done !== true; part = await parts.next()) {
    text += part.value;
  }
  return JSON.parse(text).data.length;
}

it('answers as many questions at once as have room for their rows, and then others', async () => {
  const { ask, isNothingCounted } = await openLine();
  const asked = Array.from({ length: 12 }, () => ask());
  const parts = await Promise.allSettled(asked.map((answer) => answer.next()));
  const refusals = parts.filter(({ status }) => status === 'rejected');
  expect(refusals).toHaveLength(9);
  for (const { reason } of refusals as PromiseRejectedResult[]) {
    expect(reason).toMatchObject({ code: 'books_busy' });
  }
  await expect(ask().next()).rejects.toMatchObject({ code: 'books_busy' });
  await Promise.all(asked.map((answer) => answer.return?.()));
  await waitUntil(isNothingCounted, 'nobody keeps rows');
  expect(await readRows(ask())).toBe(ROWS);
  expect(isNothingCounted()).toBe(true);
});

it('counts nothing more of questions that failed, or whose client left', async () => {
  const { ask, books, isNothingCounted } = await openLine();
  const leaving = new AbortController();
  const [reading, waiting] = [ask(BY_MODEL, leaving.signal), ask(BY_MODEL, leaving.signal)];
  await reading.next();
  expect(isNothingCounted()).toBe(false);
  const asked = waiting.next();
  leaving.abort(new Error('the client has left'));
  await expect(asked).rejects.toThrow('the client has left');
  await expect(reading.next()).rejects.toThrow('the client has left');
  await waitUntil(isNothingCounted, 'nobody keeps rows');
  // It is asked for when the rows are there.
  await sql`drop table payments`.execute(books.db);
  await expect(readRows(ask())).rejects.toMatchObject({ code: 'books_unavailable' });
  expect(isNothingCounted()).toBe(true);
});

it('answers a question of few rows beside others that keep many', async () => {
  const { ask, line, isNothingCounted } = await openLine();
  const held = [ask(), ask(), ask()];
  await Promise.all(held.map((answer) => answer.next()));
  let text = '';
  for await (const part of line.stream('exportUsage', { by: ['day'] })) text += part;
  expect(text.trim().split('\n')).toHaveLength(2);
  await Promise.all(held.map((answer) => answer.return?.()));
  await waitUntil(isNothingCounted, 'nobody keeps rows');
});
