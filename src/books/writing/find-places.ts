import type { BooksTransaction } from '../engine/books.ts';
import { entriesOf } from '../engine/days.ts';
import type { EntryRow } from '../engine/tables.ts';

/** What distinguishes an entry from others, and the sums in which it counts. */
export type CountedEntry = Pick<
  EntryRow,
  'ms' | 'bucket' | 'seq' | 'kind' | 'request' | 'account' | 'key' | 'month' | 'charged'
>;

export const COUNTED_COLUMNS = [
  ...['ms', 'bucket', 'seq', 'kind', 'request', 'account', 'key', 'month', 'charged'],
] as (keyof CountedEntry)[];

const PLACES_AT_ONCE = 500;

/** What the table of a day has at the places of entries, by `placeOf`, and at some others. */
export async function findPlaces(
  tx: BooksTransaction,
  entries: readonly RowPlace[],
  day: number,
): Promise<ReadonlyMap<string, CountedEntry>> {
  const found = new Map<string, CountedEntry>();
  const times = [...new Set(entries.map(({ ms }) => ms))];
  for (let first = 0; first < times.length; first += PLACES_AT_ONCE) {
    const rows = await tx
      .selectFrom(entriesOf(day))
      .select(COUNTED_COLUMNS)
      .where('ms', 'in', times.slice(first, first + PLACES_AT_ONCE))
      .execute();
    for (const row of rows) found.set(placeOf(row), row);
  }
  return found;
}

export type RowPlace = Pick<EntryRow, 'ms' | 'bucket' | 'seq'>;

export function placeOf({ ms, bucket, seq }: RowPlace): string {
  return `${ms} ${bucket} ${seq}`;
}
