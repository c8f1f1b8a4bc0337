import type { Books } from '../../../src/books/engine/books.ts';
import type { EntryRow, PaymentRow } from '../../../src/books/engine/tables.ts';
import type { QuestionContext } from '../../../src/books/questions/question.ts';
import { readStreamPage } from '../../../src/books/stream/read-stream.ts';
import { cursorOf } from '../../../src/books/writing/cursors.ts';
import { decodeEntry } from '../../../src/books/writing/decode-entry.ts';
import { readIngestion, writeBatch } from '../../../src/books/writing/write-batch.ts';
import type { TestConnection } from '../../support/servers/redis-connection.ts';

export function contextOf(
  books: Books,
  { connection }: { readonly connection: TestConnection },
): QuestionContext {
  return { books, connection, clock: { nowMs: () => Date.now() } };
}

/** A question that nobody takes back. */
export const WANTED = new AbortController().signal;

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
