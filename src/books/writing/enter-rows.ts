import type { Books, BooksTransaction } from '../engine/books.ts';
import { dayOfMs, entriesOf } from '../engine/days.ts';
import type { EntryRow, PaymentRow, RepeatRow } from '../engine/tables.ts';
import { addUp } from './add-up.ts';
import { listDaysOfEvents } from './days-of-events.ts';
import { deleteEntry } from './delete-entry.ts';
import { canFollow, findOtherEnds, findRivals, isSamePlace, type Rival } from './find-rivals.ts';
import { insertRepeats } from './insert-repeats.ts';
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
   * Whether Redis has lost an entry that it ought to have. False if it has the entry, and also if
   * it has been trimmed by now: then nobody knows.
   */
  isLost(entry: EntryRow): Promise<boolean>;
  readonly days: KnownDays;
  readonly nowMs: number;
}

export interface EnteredRows {
  readonly entries: number;
  readonly payments: number;
  readonly repeats: readonly RepeatRow[];
}

/**
 * Enters rows and adds up exactly those that were new. A request counts by one end of it: if Redis
 * has lost the row that is here, as a failover may do, the new one takes its place; if it has lost
 * the new one, that was read too late, and does not count. If Redis has both, the account was
 * charged twice; the second is noted, does not count, and shows as drift. What only the archive may
 * have is set aside.
 */
export async function enterRows(
  engine: Books['engine'],
  tx: BooksTransaction,
  rows: RowsToEnter,
  context: EnterContext,
): Promise<EnteredRows> {
  const { payments } = rows;
  const entries = await setDoubtfulAside(engine, tx, rows.entries, context.days.missing);
  const added: EntryRow[] = [];
  const removed: EntryRow[] = [];
  const repeats: RepeatRow[] = [];

  const replace = async (entry: EntryRow, days: readonly number[]) => {
    // Read again: handling an earlier entry may have removed the rival.
    const rivals = await findRivals(tx, [entry], days);
    const lost: EntryRow[] = [];
    for (const { stored } of rivals) {
      // Where Redis has another event by now, it cannot have this one.
      if (isSamePlace(entry, stored) || (await context.isLost(stored))) lost.push(stored);
      else if (!canFollow(entry.kind, stored.kind)) {
        const fate = (await context.isLost(entry)) ? 'replaced' : 'second';
        repeats.push(noteRepeat(entry, fate, context.nowMs));
        return;
      }
    }
    for (const stored of lost) {
      await deleteEntry(tx, stored);
      removed.push(stored);
      repeats.push(noteRepeat(stored, 'replaced', context.nowMs));
    }
    added.push(...(await insertEntries(engine, tx, [entry])));
  };

  for (const [day, ofDay] of groupByDay(entries)) {
    const days = listDaysOfEvents(ofDay, context.days.tables);
    const hindered = new Set([
      ...listEntries(await findOtherEnds(tx, ofDay, days)),
      ...listRepeated(ofDay),
    ]);
    const inserted = await insertEntries(
      engine,
      tx,
      ofDay.filter((entry) => !hindered.has(entry)),
    );
    added.push(...inserted);
    const insertedEntries = new Set(inserted);
    const known = ofDay.filter((entry) => !hindered.has(entry) && !insertedEntries.has(entry));
    for (const entry of listEntries(await findRivals(tx, known, [day]))) hindered.add(entry);
    for (const entry of ofDay.filter((one) => hindered.has(one))) await replace(entry, days);
  }
  const paid = await insertRows(engine, tx, {
    columns: 'payments',
    rows: payments,
    onConflict: 'do nothing',
    identity: ['account', 'payment', 'kind'],
  });
  await writeRollups(engine, tx, addUp(added, paid, removed));
  await insertRepeats(tx, repeats);
  return { entries: added.length, payments: paid.length, repeats };
}

/** Entries of requests that have others here as well. */
function listRepeated(entries: readonly EntryRow[]): EntryRow[] {
  const counts = new Map<string, number>();
  for (const { request } of entries) counts.set(request, (counts.get(request) ?? 0) + 1);
  return entries.filter(({ request }) => (counts.get(request) ?? 0) > 1);
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
