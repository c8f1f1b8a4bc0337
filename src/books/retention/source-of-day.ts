import { sql } from 'kysely';
import type { DaySource } from '../archive/day-source.ts';
import { ENTRY_COLUMNS } from '../archive/entry-columns.ts';
import type { Books } from '../engine/books.ts';
import { entriesOf } from '../engine/days.ts';
import type { EntryRow } from '../engine/tables.ts';

const ROWS_AT_ONCE = 5_000;

/** A day that has a table. What is entered meanwhile may be missed: its sums show that. */
export function sourceOfDay(
  books: Pick<Books, 'db'>,
  day: number,
): DaySource & {
  rows(): AsyncIterable<readonly EntryCells[]>;
} {
  return { day, columns: ENTRY_COLUMNS, rows: () => readPages(books, day) };
}

/** A type, because an interface is no record of cells. */
type EntryCells = { readonly [Name in keyof EntryRow]: EntryRow[Name] };

async function* readPages({ db }: Pick<Books, 'db'>, day: number) {
  let last: EntryCells | undefined;
  do {
    let query = db
      .selectFrom(entriesOf(day))
      .selectAll()
      .orderBy('ms')
      .orderBy('bucket')
      .orderBy('seq')
      .limit(ROWS_AT_ONCE);
    if (last !== undefined) {
      query = query.where(
        sql<boolean>`(ms, bucket, seq) > (${last.ms}, ${last.bucket}, ${last.seq})`,
      );
    }
    const rows: readonly EntryCells[] = await query.execute();
    if (rows.length > 0) yield rows;
    last = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1);
  } while (last !== undefined);
}
