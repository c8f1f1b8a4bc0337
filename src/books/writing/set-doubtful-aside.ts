import type { BooksTransaction, Engine } from '../engine/books.ts';
import type { EntryRow } from '../engine/tables.ts';
import { firstDayOfEvent } from './days-of-events.ts';
import { insertRows } from './insert-rows.ts';

/**
 * Sets aside entries that the archive may have under another id. The archive cannot be asked in the
 * middle of a batch; the archiver compares them within a minute. Returns all other entries.
 */
export async function setDoubtfulAside(
  engine: Engine,
  tx: BooksTransaction,
  entries: readonly EntryRow[],
  missing: ReadonlySet<number>,
): Promise<readonly EntryRow[]> {
  if (missing.size === 0) return entries;
  const lastDay = Math.max(...missing);
  const doubtful = new Set(entries.filter((entry) => firstDayOfEvent(entry) <= lastDay));
  if (doubtful.size === 0) return entries;
  await insertRows(engine, tx, {
    columns: 'doubtful',
    rows: [...doubtful].map((entry) => ({ ...entry, since_day: firstDayOfEvent(entry) })),
    onConflict: 'do nothing',
    identity: ['ms', 'bucket', 'seq', 'request', 'kind', 'account'],
  });
  return entries.filter((entry) => !doubtful.has(entry));
}
