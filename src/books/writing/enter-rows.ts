import type { Books, BooksTransaction } from '../engine/books.ts';
import { dayOfMs, entriesOf } from '../engine/days.ts';
import type { EntryRow, PaymentRow, RepeatRow } from '../engine/tables.ts';
import { addUp } from './add-up.ts';
import { listDaysOfEvents } from './days-of-events.ts';
import { deleteEntry } from './delete-entry.ts';
import { findRivals, isSamePlace, type Rival } from './find-rivals.ts';
import { insertRows } from './insert-rows.ts';
import type { KnownDays } from './known-days.ts';
import { noteRepeat } from './note-repeat.ts';
import { setDoubtfulAside } from './set-doubtful-aside.ts';
import { writeRollups } from './write-rollups.ts';

export interface RowsToEnter {
  /** Each event once. */
  readonly entries: readonly EntryRow[];
  readonly payments: readonly PaymentRow[];
}

export interface EnterContext {
  /**
   * Whether Redis has lost an entry that it ought to have. False when it has it, and when it is
   * trimmed by now: then nobody can tell.
   */
  isLost(stored: EntryRow): Promise<boolean>;
  readonly days: KnownDays;
  readonly nowMs: number;
}

export interface EnteredRows {
  readonly entries: number;
  readonly payments: number;
  readonly repeats: readonly RepeatRow[];
}

/**
 * Enters rows and adds up exactly those that were new. The same event under another id counts once:
 * if Redis has lost the row that is here, the new one takes its place. If Redis has both, the
 * account was charged twice; the second is noted, does not count, and shows as drift. What only the
 * archive may have is set aside.
 */
export async function enterRows(
  engine: Books['engine'],
  tx: BooksTransaction,
  rows: RowsToEnter,
  context: EnterContext,
): Promise<EnteredRows> {
  const { payments } = rows;
  const entries = await setDoubtfulAside(engine, tx, rows.entries, context.days.archived);
  const added: EntryRow[] = [];
  const removed: EntryRow[] = [];
  const repeats: RepeatRow[] = [];

  const replace = async (entry: EntryRow, days: readonly number[]) => {
    // Read anew: what was in the way of several entries may be gone by now.
    const rivals = await findRivals(tx, [entry], days);
    for (const { stored } of rivals) {
      // Where Redis has another event by now, it cannot have this one.
      if (isSamePlace(entry, stored) || (await context.isLost(stored))) continue;
      repeats.push(noteRepeat(entry, 'second', context.nowMs));
      return;
    }
    for (const { stored } of rivals) {
      await deleteEntry(tx, stored);
      removed.push(stored);
      repeats.push(noteRepeat(stored, 'replaced', context.nowMs));
    }
    added.push(...(await insertEntries(engine, tx, [entry])));
  };

  for (const [day, ofDay] of groupByDay(entries)) {
    const otherDays = listDaysOfEvents(ofDay, context.days.tables).filter((other) => other !== day);
    const orphans = ofDay.filter(({ kind }) => kind === 'orphan');
    const elsewhere = listEntries([
      ...(await findRivals(tx, ofDay, otherDays)),
      ...(orphans.length === 0 ? [] : await findRivals(tx, orphans, [day])),
    ]);
    const here = ofDay.filter((entry) => !elsewhere.has(entry));
    const inserted = await insertEntries(engine, tx, here);
    added.push(...inserted);
    const isInserted = new Set(inserted);
    const known = here.filter((entry) => !isInserted.has(entry));
    const hindered = [...elsewhere, ...listEntries(await findRivals(tx, known, [day]))];
    for (const entry of hindered) await replace(entry, [day, ...otherDays]);
  }
  const paid = await insertRows(engine, tx, {
    columns: 'payments',
    rows: payments,
    onConflict: 'do nothing',
    identity: ['account', 'payment', 'kind'],
  });
  await writeRollups(engine, tx, addUp(added, paid, removed));
  if (repeats.length > 0) {
    await tx
      .insertInto('repeats')
      .values(repeats)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  return { entries: added.length, payments: paid.length, repeats };
}

function listEntries(rivals: readonly Rival[]): Set<EntryRow> {
  return new Set(rivals.map(({ entry }) => entry));
}

function insertEntries(
  engine: Books['engine'],
  tx: BooksTransaction,
  rows: readonly EntryRow[],
): Promise<readonly EntryRow[]> {
  const [first] = rows;
  if (first === undefined) return Promise.resolve([]);
  return insertRows(engine, tx, {
    columns: 'entries',
    table: entriesOf(dayOfMs(first.ms)),
    rows,
    onConflict: 'do nothing',
    identity: ['ms', 'bucket', 'seq'],
  });
}

function groupByDay(entries: readonly EntryRow[]): Map<number, EntryRow[]> {
  const days = new Map<number, EntryRow[]>();
  for (const entry of entries) {
    const day = dayOfMs(entry.ms);
    const ofDay = days.get(day);
    if (ofDay === undefined) days.set(day, [entry]);
    else ofDay.push(entry);
  }
  return days;
}
