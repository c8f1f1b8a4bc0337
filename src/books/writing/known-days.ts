import type { Books } from '../engine/books.ts';
import { listDayStates } from '../engine/day-states.ts';
import { dayOfMs } from '../engine/days.ts';
import { openDay } from '../engine/migrate-books.ts';
import { isMissingDay } from '../engine/missing-days.ts';
import type { EntryRow } from '../engine/tables.ts';

/** Where the entries of each day are. */
export interface KnownDays {
  /** Days that have tables. */
  readonly tables: ReadonlySet<number>;
  /** Days of which the archive has entries that the books do not. */
  readonly missing: ReadonlySet<number>;
}

/** Makes the tables that the rows need. */
export async function openDaysOf(
  books: Books,
  { entries }: { readonly entries: readonly Pick<EntryRow, 'ms'>[] },
): Promise<KnownDays> {
  const rows = await listDayStates(books);
  const tables = new Set(rows.flatMap(({ day, state }) => (state === 'dropped' ? [] : [day])));
  const missing = new Set(rows.filter(isMissingDay).map(({ day }) => day));
  for (const day of new Set(entries.map(({ ms }) => dayOfMs(ms)))) {
    if (tables.has(day)) continue;
    await openDay(books, day);
    tables.add(day);
  }
  return { tables, missing };
}
