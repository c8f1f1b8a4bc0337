import { sql } from 'kysely';
import { HOUR_MS } from '../../../lib/units/time-units.ts';
import type { Books } from '../../engine/books.ts';
import { hourOfMs, msOfDay } from '../../engine/days.ts';
import { isAboutFailures, type RequestFilter } from './request-filter.ts';

/** Rows that one query looks at; libsql does nothing else meanwhile. */
const SLICE_ROWS_MAX = 8_000;
const HOURS = 24;
/** Sums count what failed, but not whose client had left. */
const UNCOUNTED_FAILURES_SHARE = 1 / 16;

/** A part of a day, and about how many rows an index leads to in it. */
export interface DaySlice {
  readonly fromMs: number;
  readonly toMs: number;
  readonly rows: number;
}

/** How many rows an index leads to on a day; undefined if only its hours show it. */
export type CountDay = (day: number) => number | undefined;

/** Counts the rows of an account on all days at once. */
export async function countDays(
  { db }: Pick<Books, 'db'>,
  days: readonly number[],
  filter: RequestFilter,
): Promise<CountDay> {
  const { account } = filter;
  const [last, first] = [days.at(0), days.at(-1)];
  if (account === undefined || first === undefined || last === undefined) return () => undefined;
  const rows = await db
    .selectFrom('account_days')
    .select(['day', 'entries', 'failed'])
    .where('account', '=', account)
    .where('day', '>=', first)
    .where('day', '<=', last)
    .execute();
  const counts = new Map(rows.map((row) => [row.day, countLedTo(filter, row)]));
  return (day) => counts.get(day) ?? 0;
}

/**
 * Divides a day into slices that are read one after the other, the newest first. The sums say how
 * many rows an hour has; all slices together are the whole day, whatever they say.
 */
export async function sliceDay(
  { db }: Pick<Books, 'db'>,
  { day, rows: ofDay }: { readonly day: number; readonly rows: number | undefined },
  filter: RequestFilter,
): Promise<DaySlice[]> {
  if (ofDay !== undefined && ofDay <= SLICE_ROWS_MAX) {
    return [{ fromMs: msOfDay(day), toMs: msOfDay(day + 1), rows: ofDay }];
  }
  const rowsOf = await countHours(db, day, filter);
  const slices: DaySlice[] = [];
  for (const hour of listHours(day).toReversed()) {
    const rows = rowsOf.get(hour) ?? 0;
    const last = slices.at(-1);
    if (last !== undefined && last.rows + rows <= SLICE_ROWS_MAX) {
      slices.pop();
      slices.push({ fromMs: hour * HOUR_MS, toMs: last.toMs, rows: last.rows + rows });
    } else {
      slices.push(...divideHour(hour, rows));
    }
  }
  return slices;
}

async function countHours(
  db: Books['db'],
  day: number,
  filter: RequestFilter,
): Promise<ReadonlyMap<number, number>> {
  const hours = listHours(day);
  const { account } = filter;
  const entries = sql<number>`sum(entries)`.as('entries');
  const failed = sql<number>`sum(failed)`.as('failed');
  const ofFleet = () => db.selectFrom('fleet_hours').where('hour', 'in', hours);
  const ofAccount = (id: string) =>
    db.selectFrom('usage_hours').where('hour', 'in', hours).where('account', '=', id);
  const rows =
    account === undefined
      ? await ofFleet().select(['hour', entries, failed]).groupBy('hour').execute()
      : await ofAccount(account).select(['hour', entries, failed]).groupBy('hour').execute();
  return new Map(rows.map((row) => [row.hour, countLedTo(filter, row)]));
}

interface EntryCounts {
  readonly entries: number;
  readonly failed: number;
}

function countLedTo(filter: RequestFilter, { entries, failed }: EntryCounts): number {
  if (!isAboutFailures(filter)) return entries;
  return failed + Math.ceil((entries - failed) * UNCOUNTED_FAILURES_SHARE);
}

function listHours(day: number): number[] {
  const first = hourOfMs(msOfDay(day));
  return Array.from({ length: HOURS }, (_, i) => first + i);
}

/** Assumes that its rows came evenly. */
function divideHour(hour: number, rows: number): DaySlice[] {
  const parts = Math.max(1, Math.ceil(rows / SLICE_ROWS_MAX));
  const startOf = (part: number) => hour * HOUR_MS + Math.floor((part * HOUR_MS) / parts);
  return Array.from({ length: parts }, (_, i) => ({
    fromMs: startOf(parts - 1 - i),
    toMs: startOf(parts - i),
    rows: rows / parts,
  }));
}
