import type { BooksTransaction } from '../engine/books.ts';
import type { EntryRow, UncheckedRow } from '../engine/tables.ts';
import { listDaysOfEvents } from './days-of-events.ts';

const ROWS_AT_ONCE = 500;

/** Notes which entries may repeat some that only the archive has: the archiver compares them. */
export async function noteUnchecked(
  tx: BooksTransaction,
  entries: readonly EntryRow[],
  archived: ReadonlySet<number>,
): Promise<void> {
  if (archived.size === 0) return;
  const rows = entries.flatMap((entry) =>
    listDaysOfEvents([entry], archived).map((day): UncheckedRow => {
      const { ms, bucket, seq, request, kind, account } = entry;
      return { day, ms, bucket, seq, request, kind, account };
    }),
  );
  for (let first = 0; first < rows.length; first += ROWS_AT_ONCE) {
    await tx
      .insertInto('unchecked')
      .values(rows.slice(first, first + ROWS_AT_ONCE))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
