import type { BooksTransaction } from '../engine/books.ts';
import { dayOfMs, entriesOf } from '../engine/days.ts';
import type { EntryRow } from '../engine/tables.ts';
import { findPlaces, placeOf, type RowPlace } from './find-places.ts';

const REQUESTS_AT_ONCE = 500;

/** The entries that a request may end with: one of them, or `expired` and then `late`. */
const ENDS = ['charge', 'release', 'orphan', 'expired', 'late'] as const;

/** A row that cannot be beside an entry: it has its place, its event or its request. */
export interface Rival {
  readonly entry: EntryRow;
  readonly stored: EntryRow;
}

/**
 * Finds what keeps entries from being entered in the tables of some days: `findOtherEnds`, and what
 * has their places.
 */
export async function findRivals(
  tx: BooksTransaction,
  entries: readonly EntryRow[],
  days: readonly number[],
): Promise<Rival[]> {
  const rivals = await findOtherEnds(tx, entries, days);
  for (const day of days) {
    const ofDay = entries.filter(({ ms }) => dayOfMs(ms) === day);
    const places = await findPlaces(tx, ofDay, day);
    for (const entry of ofDay) {
      // After a failover the same id may belong to another event.
      const atPlace = places.get(placeOf(entry));
      if (atPlace === undefined || eventOf(atPlace) === eventOf(entry)) continue;
      const isFound = rivals.some((one) => one.entry === entry && isSamePlace(one.stored, atPlace));
      const stored = isFound ? undefined : await readEntry(tx, atPlace);
      if (stored !== undefined) rivals.push({ entry, stored });
    }
  }
  return rivals;
}

/** Finds how else the requests of entries have ended, by the tables of some days. */
export async function findOtherEnds(
  tx: BooksTransaction,
  entries: readonly EntryRow[],
  days: readonly number[],
): Promise<Rival[]> {
  const rivals: Rival[] = [];
  for (const day of days) {
    for (let first = 0; first < entries.length; first += REQUESTS_AT_ONCE) {
      rivals.push(...(await findOnDay(tx, entries.slice(first, first + REQUESTS_AT_ONCE), day)));
    }
  }
  return rivals;
}

async function findOnDay(
  tx: BooksTransaction,
  entries: readonly EntryRow[],
  day: number,
): Promise<Rival[]> {
  const rows = await tx
    .selectFrom(entriesOf(day))
    .selectAll()
    .where('request', 'in', [...new Set(entries.map(({ request }) => request))])
    .execute();
  if (rows.length === 0) return [];
  const byEvent = new Map(rows.map((row) => [eventOf(row), row]));
  const rivals: Rival[] = [];
  for (const entry of entries) {
    for (const event of eventsOf(entry)) {
      const stored = byEvent.get(event);
      const isItself = stored?.kind === entry.kind && isSamePlace(stored, entry);
      if (stored !== undefined && !isItself) rivals.push({ entry, stored });
    }
  }
  return rivals;
}

/** A request has one entry of a kind, unless a failover repeats it. */
export function eventOf({
  account,
  request,
  kind,
}: Pick<EntryRow, 'account' | 'request'> & { readonly kind: string }): string {
  return `${request} ${kind} ${account}`;
}

/** All events that the request of an entry may have ended with; its own is one of them. */
export function eventsOf(entry: Pick<EntryRow, 'account' | 'request' | 'kind'>): string[] {
  if (!ENDS.some((kind) => kind === entry.kind)) return [eventOf(entry)];
  return ENDS.map((kind) => eventOf({ ...entry, kind }));
}

/** Whether a request may have both entries. */
export function canFollow(kind: string, other: string): boolean {
  return (kind === 'late' && other === 'expired') || (kind === 'expired' && other === 'late');
}

function readEntry(
  tx: BooksTransaction,
  { ms, bucket, seq }: RowPlace,
): Promise<EntryRow | undefined> {
  return tx
    .selectFrom(entriesOf(dayOfMs(ms)))
    .selectAll()
    .where('ms', '=', ms)
    .where('bucket', '=', bucket)
    .where('seq', '=', seq)
    .executeTakeFirst();
}

export function isSamePlace(first: RowPlace, second: RowPlace): boolean {
  return first.ms === second.ms && first.bucket === second.bucket && first.seq === second.seq;
}
