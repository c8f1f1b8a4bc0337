import type { BooksTransaction } from '../engine/books.ts';
import { dayOfMs, entriesOf } from '../engine/days.ts';
import type { DoubtfulRow, EntryRow } from '../engine/tables.ts';

/** False if somebody else has deleted it. */
export function deleteEntry(tx: BooksTransaction, entry: EntryRow): Promise<boolean> {
  return deleteFrom(tx, entriesOf(dayOfMs(entry.ms)), entry);
}

/** The same for an entry that was set aside. */
export function deleteDoubtful(tx: BooksTransaction, row: DoubtfulRow): Promise<boolean> {
  return deleteFrom(tx, 'doubtful', row);
}

async function deleteFrom(
  tx: BooksTransaction,
  table: 'entries' | 'doubtful',
  { ms, bucket, seq, request, kind, account }: EntryRow,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom(table)
    .where('ms', '=', ms)
    .where('bucket', '=', bucket)
    .where('seq', '=', seq)
    .where('request', '=', request)
    .where('kind', '=', kind)
    .where('account', '=', account)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
