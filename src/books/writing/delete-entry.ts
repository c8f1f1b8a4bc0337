import type { BooksTransaction } from '../engine/books.ts';
import { dayOfMs, entriesOf } from '../engine/days.ts';
import type { EntryRow } from '../engine/tables.ts';

/** False if somebody else has deleted it. */
export async function deleteEntry(
  tx: BooksTransaction,
  { ms, bucket, seq, request, kind, account }: EntryRow,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom(entriesOf(dayOfMs(ms)))
    .where('ms', '=', ms)
    .where('bucket', '=', bucket)
    .where('seq', '=', seq)
    .where('request', '=', request)
    .where('kind', '=', kind)
    .where('account', '=', account)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
