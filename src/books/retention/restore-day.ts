import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveStore } from '../archive/archive-store.ts';
import type { DayColumnType } from '../archive/day-source.ts';
import { ENTRY_COLUMNS } from '../archive/entry-columns.ts';
import { isManifest, type Manifest, readManifest } from '../archive/manifest.ts';
import { openDuckDb, quoteName, quoteText, type ResultCell } from '../archive/open-duckdb.ts';
import { escapeGlob } from '../archive/parquet-sums.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { entriesOf, msOfDay, nameDay } from '../engine/days.ts';
import type { EntryRow } from '../engine/tables.ts';
import { insertRows } from '../writing/insert-rows.ts';
import { bringDayHere } from './bring-day-here.ts';

const MEMORY_MAX = '128MB';

interface RestoreOptions {
  readonly day: number;
  /** Its manifest, as the books have it. */
  readonly noted: string;
  /** Belongs to this call alone. */
  readonly tempFolder: string;
}

/**
 * Brings the entries of a dropped day back into its table, beside those that have come since.
 * Then the table is whole, and can be archived like that of any other day. One transaction does
 * it, so nobody sees half a day.
 */
export async function restoreDay(
  books: Books,
  place: ArchiveStore,
  { day, noted, tempFolder }: RestoreOptions,
): Promise<void> {
  const manifest = await readManifest(place, day);
  if (manifest === undefined) throw new Error(`${place.title} has no ${nameDay(day)}`);
  if (!isManifest(manifest, noted)) {
    throw new Error(`${place.title} has another ${nameDay(day)} than the books have noted`);
  }
  const folder = join(tempFolder, `restoring-${nameDay(day)}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    const paths = await bringDayHere(place, manifest, folder);
    await books.db.transaction().execute(async (tx) => {
      await openWhole(tx, day, noted);
      let restored = 0;
      for await (const rows of readParquet(paths, join(folder, 'spill'))) {
        const inserted = await insertRows(books.engine, tx, {
          columns: 'entries',
          table: entriesOf(day),
          rows,
          onConflict: 'do nothing',
          identity: ['ms', 'bucket', 'seq'],
        });
        restored += inserted.length;
      }
      refuseLosses(manifest, restored);
      // Its table is whole now, and has each event once.
      await tx
        .deleteFrom('unchecked')
        .where('day', '=', day)
        .where('ms', '>=', msOfDay(day))
        .where('ms', '<', msOfDay(day + 1))
        .execute();
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Throws if another process has archived the day again since its manifest was noted. */
async function openWhole(tx: BooksTransaction, day: number, noted: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('days')
    .set({ archive: null })
    .where('day', '=', day)
    .where('state', '=', 'open')
    .where('archive', '=', noted)
    .executeTakeFirst();
  if (numUpdatedRows === 1n) return;
  throw new Error(`${nameDay(day)} was changed by another process while it was brought back`);
}

function refuseLosses({ rows, date }: Manifest, restored: number): void {
  if (restored === rows) return;
  throw new Error(
    `${rows - restored} archived entries of ${date} were entered again under another id: the day stays in both places`,
  );
}

async function* readParquet(
  paths: readonly string[],
  tempFolder: string,
): AsyncGenerator<EntryRow[], void, undefined> {
  if (paths.length === 0) return;
  const duckDb = await openDuckDb({ tempFolder, memoryMax: MEMORY_MAX });
  try {
    const names = ENTRY_COLUMNS.map(({ name }) => quoteName(name)).join(', ');
    for (const path of paths) {
      const file = `read_parquet(${quoteText(escapeGlob(path))}, hive_partitioning = false)`;
      const { rows } = await duckDb.select(`SELECT ${names} FROM ${file}`);
      for await (const page of rows) yield page.map(decodeRow);
    }
  } finally {
    duckDb.close();
  }
}

function decodeRow(cells: readonly ResultCell[]): EntryRow {
  const values = ENTRY_COLUMNS.map(({ name, type }, index) => [
    name,
    decodeCell(type, cells[index] ?? null),
  ]);
  return Object.fromEntries(values) as EntryRow;
}

function decodeCell(type: DayColumnType, cell: ResultCell): number | string | Buffer | null {
  if (cell === null) return null;
  if (type === 'text') return `${cell}`;
  return type === 'bytes' ? Buffer.from(`${cell}`, 'hex') : Number(cell);
}
