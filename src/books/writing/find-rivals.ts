import type { BooksTransaction } from '../engine/books.ts';
import { dayOfMs, entriesOf } from '../engine/days.ts';
import type { EntryRow } from '../engine/tables.ts';

const REQUESTS_AT_ONCE = 500;

/** How a request may have ended before Redis lost its hold. */
const ENDS_BEFORE_LOSS = ['charge', 'release', 'expired', 'late'];

/** A row that cannot be beside an entry: it has its place or its event, and is not that entry. */
export interface Rival {
  readonly entry: EntryRow;
  readonly stored: EntryRow;
}

/**
 * Finds what keeps entries from being entered in the tables of some days. Entries that are there
 * already have no rival, but for those of orphans.
 */
export async function findRivals(
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
  const byEvent = new Map(rows.map((row) => [eventOf(row), row]));
  const rivals: Rival[] = [];
  for (const entry of entries) {
    for (const event of eventsBefore(entry)) {
      const stored = byEvent.get(event);
      if (stored !== undefined) rivals.push({ entry, stored });
    }
    const ofEvent = byEvent.get(eventOf(entry));
    if (ofEvent !== undefined && isSamePlace(ofEvent, entry)) continue;
    if (ofEvent !== undefined) rivals.push({ entry, stored: ofEvent });
    const atPlace = dayOfMs(entry.ms) === day ? await findAtPlace(tx, entry) : undefined;
    if (atPlace !== undefined) rivals.push({ entry, stored: atPlace });
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

/**
 * An orphan is a settlement that Redis takes again, since it has lost the hold. If it had taken it
 * before, the books may have that entry.
 */
export function eventsBefore(entry: Pick<EntryRow, 'account' | 'request' | 'kind'>): string[] {
  if (entry.kind !== 'orphan') return [];
  return ENDS_BEFORE_LOSS.map((kind) => eventOf({ ...entry, kind }));
}

/** After a failover the same id may belong to another event. */
function findAtPlace(
  tx: BooksTransaction,
  { ms, bucket, seq }: EntryRow,
): Promise<EntryRow | undefined> {
  return tx
    .selectFrom(entriesOf(dayOfMs(ms)))
    .selectAll()
    .where('ms', '=', ms)
    .where('bucket', '=', bucket)
    .where('seq', '=', seq)
    .executeTakeFirst();
}

export type RowPlace = Pick<EntryRow, 'ms' | 'bucket' | 'seq'>;

export function isSamePlace(first: RowPlace, second: RowPlace): boolean {
  return first.ms === second.ms && first.bucket === second.bucket && first.seq === second.seq;
}
