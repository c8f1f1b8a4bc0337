import type { Clock } from '../../lib/time/clock.ts';
import type { ArchiveStore } from '../archive/archive-store.ts';
import type { Books } from '../engine/books.ts';
import { listMissingDays } from '../engine/missing-days.ts';
import type { DayRow, DoubtfulRow, RepeatRow } from '../engine/tables.ts';
import { deleteDoubtful } from '../writing/delete-entry.ts';
import { enterRows } from '../writing/enter-rows.ts';
import type { RowPlace } from '../writing/find-places.ts';
import { eventOf, isSamePlace } from '../writing/find-rivals.ts';
import { insertRepeats } from '../writing/insert-repeats.ts';
import { openDaysOf } from '../writing/known-days.ts';
import { noteRepeat } from '../writing/note-repeat.ts';
import { withArchivedDay } from './find-archived.ts';

const ROWS_AT_ONCE = 1_000;

interface SettleDoubtfulOptions {
  readonly books: Books;
  readonly place: ArchiveStore;
  readonly clock: Clock;
  /** Belongs to this call alone. */
  readonly tempFolder: string;
  readonly signal: AbortSignal;
  /** Entries that may be in the archive of the day stay set aside. */
  onFailure(day: Pick<DayRow, 'day'>, reason: Error): void;
}

/**
 * Compares entries that were set aside with the archive. Those that it does not have are entered;
 * of the others, the first one of an event counts, as with entries in the books. Each page is one
 * transaction, so this may end anywhere.
 */
export async function settleDoubtful(options: SettleDoubtfulOptions): Promise<void> {
  const { books, signal } = options;
  // A day that cannot be read holds back only the entries that it may have.
  for (let sinceDay = Number.MIN_SAFE_INTEGER; ; ) {
    signal.throwIfAborted();
    const rows = await readPage(books, sinceDay);
    if (rows.length === 0) return;
    const archived = await findInArchive(options, rows);
    if ('failedDay' in archived) sinceDay = archived.failedDay + 1;
    else await settlePage(options, rows, archived.places);
  }
}

function readPage({ db }: Books, sinceDay: number): Promise<DoubtfulRow[]> {
  return db
    .selectFrom('doubtful')
    .selectAll()
    .where('since_day', '>=', sinceDay)
    .orderBy('ms')
    .orderBy('bucket')
    .orderBy('seq')
    .limit(ROWS_AT_ONCE)
    .execute();
}

async function findInArchive(options: SettleDoubtfulOptions, rows: readonly DoubtfulRow[]) {
  const { books, place, tempFolder, signal, onFailure } = options;
  const places = new Map<string, RowPlace>();
  const sinceDay = Math.min(...rows.map((row) => row.since_day));
  const days = (await listMissingDays(books)).filter((day) => day >= sinceDay);
  // Backwards: the first day that fails is then the last that holds entries back.
  for (const day of days.reverse()) {
    signal.throwIfAborted();
    try {
      const found = await withArchivedDay({ place, day, tempFolder }, (find) => find(rows));
      for (const [event, rowPlace] of found) places.set(event, rowPlace);
    } catch (error) {
      signal.throwIfAborted();
      onFailure({ day }, error instanceof Error ? error : new Error(`${error}`));
      return { failedDay: day };
    }
  }
  return { places };
}

async function settlePage(
  { books, clock }: SettleDoubtfulOptions,
  rows: readonly DoubtfulRow[],
  archived: ReadonlyMap<string, RowPlace>,
): Promise<void> {
  const nowMs = clock.nowMs();
  const lacked = rows.filter((row) => !archived.has(eventOf(row)));
  const { tables } = await openDaysOf(books, { entries: lacked });
  await books.db.transaction().execute(async (tx) => {
    const own = new Set<DoubtfulRow>();
    // Another archiver may have settled some of them.
    for (const row of rows) if (await deleteDoubtful(tx, row)) own.add(row);
    const entries = lacked
      .filter((row) => own.has(row))
      .map(({ since_day: sinceDay, ...entry }) => entry);
    const repeats = [...own].flatMap((row): RepeatRow[] => {
      const known = archived.get(eventOf(row));
      // The same entry, once more, is not another one.
      const isOther = known !== undefined && !isSamePlace(known, row);
      return isOther ? [noteRepeat(row, 'second', nowMs)] : [];
    });
    const days = { tables, missing: new Set<number>() };
    await enterRows(
      books.engine,
      tx,
      { entries, payments: [] },
      { isLost: async () => false, days, nowMs },
    );
    await insertRepeats(tx, repeats);
  });
}
