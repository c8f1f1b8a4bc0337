import type { BooksTransaction } from '../engine/books.ts';
import { dayOfMs, entriesOf } from '../engine/days.ts';
import type { EntryRow, PaymentRow } from '../engine/tables.ts';
import { listDaysOfEvents } from '../writing/days-of-events.ts';
import { COUNTED_COLUMNS, type CountedEntry, findPlaces, placeOf } from '../writing/find-places.ts';
import { canFollow, eventOf, eventsOf } from '../writing/find-rivals.ts';

const NO_PLACES: ReadonlyMap<string, CountedEntry> = new Map();

/** What entering entries changes: one counts, and another whose place it takes does not. */
interface NewEntries {
  readonly added: readonly CountedEntry[];
  readonly removed: readonly CountedEntry[];
}

interface FindNewOptions {
  /** The days that have tables. */
  readonly days: ReadonlySet<number>;
  /** Whether the books may have these places already. */
  readonly isReread: boolean;
  isLost(stored: CountedEntry): Promise<boolean>;
}

/** Finds out what `enterRows` would make of entries, and writes nothing. */
export async function findNewEntries(
  tx: BooksTransaction,
  entries: readonly EntryRow[],
  { days, isReread, isLost }: FindNewOptions,
): Promise<NewEntries> {
  const added: CountedEntry[] = [];
  const removed: CountedEntry[] = [];
  for (const [day, ofDay] of groupByDay(entries)) {
    const tables = listDaysOfEvents(ofDay, days);
    const events = await findEvents(tx, ofDay, tables);
    const places = isReread && days.has(day) ? await findPlaces(tx, ofDay, day) : NO_PLACES;
    for (const entry of ofDay) {
      const ends = eventsOf(entry).flatMap((event) => events.get(event) ?? []);
      const others = ends.filter((stored) => placeOf(stored) !== placeOf(entry));
      const lost = await keepLost(others, isLost);
      const isHindered = others.some(
        (stored) => !lost.includes(stored) && !canFollow(entry.kind, stored.kind),
      );
      if (isHindered) continue;
      // Where Redis has this event by now, it cannot have another one.
      const atPlace = places.get(placeOf(entry)) ?? ends.find((stored) => !others.includes(stored));
      const isKnown = atPlace !== undefined && eventOf(atPlace) === eventOf(entry);
      removed.push(...lost);
      if (isKnown) continue;
      added.push(entry);
      if (atPlace !== undefined) removed.push(atPlace);
    }
  }
  return { added, removed };
}

async function keepLost(
  stored: readonly CountedEntry[],
  isLost: FindNewOptions['isLost'],
): Promise<CountedEntry[]> {
  const areLost = await Promise.all(stored.map(isLost));
  return stored.filter((_, index) => areLost[index]);
}

/** The payments that the books do not have. */
export async function findNewPayments(
  tx: BooksTransaction,
  payments: readonly PaymentRow[],
): Promise<readonly PaymentRow[]> {
  if (payments.length === 0) return [];
  const stored = await tx
    .selectFrom('payments')
    .select(['account', 'payment', 'kind'])
    .where('account', 'in', [...new Set(payments.map(({ account }) => account))])
    .where('payment', 'in', [...new Set(payments.map(({ payment }) => payment))])
    .execute();
  const isStored = new Set(stored.map(identifyPayment));
  return payments.filter((payment) => !isStored.has(identifyPayment(payment)));
}

export function identifyPayment(payment: Pick<PaymentRow, 'account' | 'payment' | 'kind'>): string {
  return `${payment.account} ${payment.kind} ${payment.payment}`;
}

async function findEvents(
  tx: BooksTransaction,
  entries: readonly EntryRow[],
  days: readonly number[],
): Promise<Map<string, CountedEntry>> {
  const requests = [...new Set(entries.map(({ request }) => request))];
  const found = new Map<string, CountedEntry>();
  for (const day of days) {
    const rows = await tx
      .selectFrom(entriesOf(day))
      .select(COUNTED_COLUMNS)
      .where('request', 'in', requests)
      .execute();
    for (const row of rows) found.set(eventOf(row), row);
  }
  return found;
}

function groupByDay(entries: readonly EntryRow[]): Map<number, EntryRow[]> {
  const days = new Map<number, EntryRow[]>();
  for (const entry of entries) {
    const day = dayOfMs(entry.ms);
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return days;
}
