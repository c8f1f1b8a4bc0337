import { expect } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import type { EntryRow, PaymentRow } from '../../../src/books/engine/tables.ts';
import type { QuestionContext } from '../../../src/books/questions/question.ts';
import { createRowBudget, ROWS_HELD_MAX } from '../../../src/books/questions/row-budget.ts';
import { readStreamPage } from '../../../src/books/stream/read-stream.ts';
import { cursorOf } from '../../../src/books/writing/cursors.ts';
import { decodeEntry } from '../../../src/books/writing/decode-entry.ts';
import { readIngestion, writeBatch } from '../../../src/books/writing/write-batch.ts';
import type { TestConnection } from '../../support/servers/redis-connection.ts';

export function contextOf(
  books: Books,
  { connection }: { readonly connection: TestConnection },
): QuestionContext {
  const share = createRowBudget(ROWS_HELD_MAX).open();
  return { books, connection, clock: { nowMs: () => Date.now() }, share };
}

/** A question that nobody takes back. */
export const WANTED = new AbortController().signal;

/**
 * Books whose reader leaves when so many queries have been answered, and how many were sent in all.
 * A reader of more than all of them stays.
 */
export function watchReader(books: Books, answersMax = Number.POSITIVE_INFINITY) {
  const leaving = new AbortController();
  const seen = { queries: 0, answers: 0 };
  const db = books.db.withPlugin({
    transformQuery({ node }) {
      seen.queries += 1;
      return node;
    },
    async transformResult({ result }) {
      seen.answers += 1;
      if (seen.answers === answersMax) leaving.abort(new Error('the reader has left'));
      return result;
    },
  });
  return { books: { ...books, db }, signal: leaving.signal, seen };
}

/** Expects that what is asked ends soon after its reader has left. */
export async function expectLeft(
  books: Books,
  answersMax: number,
  ask: (books: Books, signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const staying = watchReader(books);
  await ask(staying.books, staying.signal);
  const leaving = watchReader(books, answersMax);
  await expect(ask(leaving.books, leaving.signal)).rejects.toThrow('the reader has left');
  expect(leaving.seen.queries).toBe(answersMax);
  expect(staying.seen.queries).toBeGreaterThan(answersMax);
}

const KEPT = { isLost: async () => false, nowMs: 0 };

export async function enter(
  books: Books,
  entries: readonly EntryRow[],
  payments: readonly PaymentRow[] = [],
): Promise<void> {
  const { version, cursors } = await readIngestion(books);
  await writeBatch(books, { version, cursors, entries, payments, damaged: [], gaps: [] }, KEPT);
}

/** Enters what a bucket's stream has. */
export async function enterStream({ books, connection }: QuestionContext, bucket: number) {
  const { version, cursors } = await readIngestion(books);
  const after = cursorOf(cursors, bucket);
  const page = await readStreamPage(connection, bucket, { after, until: '+' });
  const decoded = page.map(({ id, fields }) => decodeEntry(bucket, id, fields, () => undefined));
  const entries = decoded.flatMap((entry) => (entry.is === 'entry' ? [entry.row] : []));
  const payments = decoded.flatMap((entry) => (entry.is === 'payment' ? [entry.row] : []));
  const moved = new Map(cursors).set(bucket, page.at(-1)?.id ?? after);
  const rest = { damaged: [], gaps: [] };
  await writeBatch(books, { version, cursors: moved, entries, payments, ...rest }, KEPT);
}
