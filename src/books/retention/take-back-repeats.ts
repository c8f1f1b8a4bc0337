import { sql } from 'kysely';
import type { Clock } from '../../lib/time/clock.ts';
import type { ArchiveStore } from '../archive/archive-store.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { dayOfMs, entriesOf, msOfDay } from '../engine/days.ts';
import type { DayRow, EntryRow, RepeatRow, UncheckedRow } from '../engine/tables.ts';
import { addUp } from '../writing/add-up.ts';
import { deleteEntry } from '../writing/delete-entry.ts';
import type { RowPlace } from '../writing/find-places.ts';
import { eventOf, isSamePlace } from '../writing/find-rivals.ts';
import { insertRepeats } from '../writing/insert-repeats.ts';
import { noteRepeat } from '../writing/note-repeat.ts';
import { writeRollups } from '../writing/write-rollups.ts';
import { withArchivedDay } from './find-archived.ts';
import { listDaysToCompare } from './list-days-to-compare.ts';

const ROWS_AT_ONCE = 1_000;

interface TakeBackOptions {
  readonly books: Books;
  readonly place: ArchiveStore;
  readonly clock: Clock;
  /** Belongs to this call alone. */
  readonly tempFolder: string;
  readonly signal: AbortSignal;
  /** Entries that may repeat some of the day stay as they are. */
  onFailure(day: Pick<DayRow, 'day'>, reason: Error): void;
}

/**
 * Compares late entries that an earlier version has entered with the archive, and takes back
 * those that it already has. As with entries in the books, the first one of an event counts. Each
 * page is one transaction, so this may end anywhere.
 */
export async function takeBackRepeats(options: TakeBackOptions): Promise<void> {
  const { books, signal } = options;
  for (const day of await listDaysToCompare(books)) {
    signal.throwIfAborted();
    try {
      await compareWithDay(options, day);
    } catch (error) {
      signal.throwIfAborted();
      options.onFailure({ day }, error instanceof Error ? error : new Error(`${error}`));
    }
  }
}

/** Whether the table of a day has entries that have not been compared with the archive yet. */
export async function hasUnchecked({ db }: Pick<Books, 'db'>, day: number): Promise<boolean> {
  const found = await db
    .selectFrom('unchecked')
    .select('day')
    .where('ms', '>=', msOfDay(day))
    .where('ms', '<', msOfDay(day + 1))
    .limit(1)
    .execute();
  return found.length > 0;
}

async function compareWithDay(options: TakeBackOptions, day: number): Promise<void> {
  const { books, place, tempFolder, signal } = options;
  await withArchivedDay({ place, day, tempFolder }, async (find) => {
    for (;;) {
      signal.throwIfAborted();
      const rows = await readPage(books, day);
      if (rows.length === 0) return;
      await settlePage(options, rows, await find(rows));
    }
  });
}

function readPage({ db }: Books, day: number): Promise<UncheckedRow[]> {
  return db
    .selectFrom('unchecked')
    .selectAll()
    .where('day', '=', day)
    .orderBy('ms')
    .orderBy('bucket')
    .orderBy('seq')
    .limit(ROWS_AT_ONCE)
    .execute();
}

async function settlePage(
  { books, clock }: TakeBackOptions,
  rows: readonly UncheckedRow[],
  archived: ReadonlyMap<string, RowPlace>,
): Promise<void> {
  await books.db.transaction().execute(async (tx) => {
    const removed: EntryRow[] = [];
    const repeats: RepeatRow[] = [];
    for (const row of rows) {
      const known = archived.get(eventOf(row));
      const entry = known === undefined ? undefined : await readEntry(tx, row);
      if (known !== undefined && entry !== undefined && (await deleteEntry(tx, entry))) {
        removed.push(entry);
        // The same entry, entered again, is not another one.
        if (!isSamePlace(known, entry)) repeats.push(noteRepeat(entry, 'second', clock.nowMs()));
      }
      await forget(tx, row, known !== undefined);
    }
    await writeRollups(books.engine, tx, addUp([], [], removed));
    await insertRepeats(tx, repeats);
  });
}

function readEntry(
  tx: BooksTransaction,
  { ms, bucket, seq, request, kind, account }: UncheckedRow,
): Promise<EntryRow | undefined> {
  return tx
    .selectFrom(entriesOf(dayOfMs(ms)))
    .selectAll()
    .where('ms', '=', ms)
    .where('bucket', '=', bucket)
    .where('seq', '=', seq)
    .where('request', '=', request)
    .where('kind', '=', sql.val(kind as EntryRow['kind']))
    .where('account', '=', account)
    .executeTakeFirst();
}

/** What was taken back need not be compared with other days either. */
async function forget(
  tx: BooksTransaction,
  { day, ms, bucket, seq, request }: UncheckedRow,
  isRepeat: boolean,
): Promise<void> {
  const query = tx
    .deleteFrom('unchecked')
    .where('ms', '=', ms)
    .where('bucket', '=', bucket)
    .where('seq', '=', seq)
    .where('request', '=', request);
  await (isRepeat ? query : query.where('day', '=', day)).execute();
}
