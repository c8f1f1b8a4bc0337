import { DAY_MS, HOUR_MS } from '../../../lib/units/time-units.ts';
import type { AccountSlice } from '../../engine/account-slices.ts';
import type { Books } from '../../engine/books.ts';
import { dayOfMs, hourOfMs, msOfDay } from '../../engine/days.ts';
import { SUM_COLUMNS } from '../../engine/tables.ts';
import { addAccountOfKey } from '../add-account-of-key.ts';
import { BooksError } from '../books-error.ts';
import type { QuestionContext } from '../question.ts';
import { type RowShare, refuseForOthers } from '../row-budget.ts';
import { yieldTurn } from '../yield-turn.ts';
import { findDays, refuseMissingDays } from './find-days.ts';
import { planUsage, type UsageSegment } from './plan-usage.ts';
import { listSlices } from './slice-accounts.ts';
import { type SummedRow, sumChunk } from './sum-chunk.ts';
import { columnsOf, type UsageFilter, type UsageGroup, type UsageSource } from './usage-query.ts';

export interface UsageRow {
  /** By the columns of the query; '' is unknown, days and hours count from the epoch. */
  readonly names: readonly (string | number)[];
  /** In the order of `SUM_COLUMNS`. */
  readonly sums: readonly number[];
}

interface ReadUsageQuery extends UsageFilter {
  readonly by: readonly UsageGroup[];
  /** The most rows that may have to be in memory at once. */
  readonly rowsMax: number;
}

/** A query that takes less may become longer, one that takes more becomes shorter. */
const FAST_MS = 15;
const SLOW_MS = 60;
/** Times in one list. */
const UNITS_MAX = 512;

/**
 * Sums up usage in the order of the groups, some rows at a time. Each has all of its sums; those
 * without entries are left out. The rows are counted until whoever takes them drops them.
 */
export async function* readUsage(
  { books, share }: Pick<QuestionContext, 'books' | 'share'>,
  query: ReadUsageQuery,
  signal: AbortSignal,
): AsyncGenerator<readonly UsageRow[]> {
  const { rowsMax } = query;
  const filter = await addAccountOfKey(books, query);
  const days = await findDays(books);
  if (days === undefined) return;
  const columns = columnsOf(query.by);
  const segments = planUsage(columns, filter, days);
  refuseMissingDays(segments, days);
  const isByTime = columns[0] === 'day' || columns[0] === 'hour';
  for await (const slice of listSlices(books, { columns, filter, segments }, signal)) {
    const rows = createRows(rowsMax, share);
    const readMax = () => Math.min(rowsMax, rows.count() + share.room());
    // Rows that are not by time add up, so no chunk is small enough.
    const readRoom = () => (isByTime ? readMax() - rows.count() : Number.POSITIVE_INFINITY);
    const room = { rowsMax, readMax, readRoom };
    const chunks = { columns, filter, segments, slice, days: days.tables, ...room };
    for await (const { summed, endMs } of sumSegments(books, chunks, signal)) {
      rows.add(summed, columns);
      if (isByTime) yield rows.takeBefore(columns[0] === 'day' ? dayOfMs(endMs) : hourOfMs(endMs));
    }
    yield rows.takeBefore(undefined);
  }
}

interface SegmentQuery {
  readonly columns: readonly UsageGroup[];
  readonly filter: UsageFilter;
  readonly segments: readonly UsageSegment[];
  readonly slice: AccountSlice;
  readonly rowsMax: number;
  /** `rowsMax`, or less where other questions have the rest at the moment. */
  readMax(): number;
  /** How many rows a chunk may add, unless it cannot be any shorter. */
  readRoom(): number;
  /** The days whose entries have a table. */
  readonly days: ReadonlySet<number>;
}

/** Goes through the time in chunks whose length depends on their rows and how long they take. */
async function* sumSegments(
  books: Books,
  { segments, days, readMax, readRoom, ...rest }: SegmentQuery,
  signal: AbortSignal,
): AsyncGenerator<{ readonly summed: readonly SummedRow[]; readonly endMs: number }> {
  for (const { source, fromMs, toMs } of segments) {
    const unitMs = unitOf({ source, fromMs, toMs });
    let units = beginWith(source, rest.filter.account !== undefined);
    for (let startMs = fromMs; startMs < toMs; ) {
      const endMs = Math.min(endOf(source, startMs, units * unitMs), toMs);
      await yieldTurn(signal);
      const startedMs = performance.now();
      const hasTable = source !== 'entries' || days.has(dayOfMs(startMs));
      // Before the query, which reads no further: others may give some back meanwhile.
      const [rowsMax, room] = [readMax(), readRoom()];
      const chunk = { ...rest, rowsMax, source, fromMs: startMs, toMs: endMs };
      const summed = hasTable ? await sumChunk(books, chunk) : [];
      const readUnits = Math.ceil((endMs - startMs) / unitMs);
      if (summed.length > room && readUnits > 1) {
        units = halve(readUnits);
        continue;
      }
      if (summed.length > rowsMax && rowsMax < rest.rowsMax) throw refuseForOthers();
      yield { summed, endMs };
      const tookMs = performance.now() - startedMs;
      const mayGrow = summed.length * 2 <= readRoom();
      units = pace(units, tookMs, mayGrow);
      startMs = endMs;
    }
  }
}

/** A segment of a month is one month. */
function unitOf({ source, fromMs, toMs }: UsageSegment): number {
  if (source === 'usage_months') return toMs - fromMs;
  return source === 'usage_days' || source === 'account_days' ? DAY_MS : HOUR_MS;
}

function pace(units: number, tookMs: number, mayGrow: boolean): number {
  if (tookMs > SLOW_MS) return halve(units);
  return tookMs < FAST_MS && mayGrow ? Math.min(units * 2, UNITS_MAX) : units;
}

function halve(units: number): number {
  return Math.max(Math.floor(units / 2), 1);
}

/** How many hours or days the first chunk has. */
function beginWith(source: UsageSource, isOfAccount: boolean): number {
  if (isOfAccount) return source === 'entries' ? 24 : 64;
  const counts: Partial<Record<UsageSource, number>> = { account_days: 4, fleet_hours: 192 };
  return counts[source] ?? 1;
}

/** The entries of each day are in a table of their own; the others begin and end with the unit. */
function endOf(source: UsageSource, startMs: number, lengthMs: number): number {
  const endMs = startMs + lengthMs;
  return source === 'entries' ? Math.min(endMs, msOfDay(dayOfMs(startMs) + 1)) : endMs;
}

interface Rows {
  add(summed: readonly SummedRow[], columns: readonly UsageGroup[]): void;
  /** How many are not taken yet. */
  count(): number;
  /** Hands over rows of times before this one, or all, in their order. */
  takeBefore(time: number | undefined): readonly UsageRow[];
}

const ENTRIES = SUM_COLUMNS.indexOf('entries');

function createRows(rowsMax: number, share: RowShare): Rows {
  const rows = new Map<string, { names: readonly (string | number)[]; sums: number[] }>();
  return {
    add(summed, columns) {
      const known = rows.size;
      for (const found of summed) {
        const names = columns.map((column) => found[column] ?? '');
        const name = names.join('\0');
        const row = rows.get(name);
        if (row === undefined) rows.set(name, { names, sums: sumsOf(found) });
        else addSums(row.sums, sumsOf(found));
      }
      if (rows.size > rowsMax) throw refuseRows(rowsMax);
      share.add(rows.size - known);
    },
    count: () => rows.size,
    takeBefore(time) {
      const taken: UsageRow[] = [];
      for (const [name, row] of rows) {
        if (time !== undefined && Number(row.names[0]) >= time) continue;
        rows.delete(name);
        if (row.sums[ENTRIES] === 0) share.drop(1);
        else taken.push(row);
      }
      return taken.sort(compareRows);
    },
  };
}

function sumsOf(found: SummedRow): number[] {
  return SUM_COLUMNS.map((_, i) => Number(found[`s${i}`]));
}

export function addSums(sums: number[], others: readonly number[]): void {
  for (const [i, amount] of others.entries()) sums[i] = (sums[i] ?? 0) + amount;
}

function compareRows({ names: first }: UsageRow, { names: second }: UsageRow): number {
  for (const [i, name] of first.entries()) {
    const other = second[i] ?? '';
    if (name !== other) return name < other ? -1 : 1;
  }
  return 0;
}

export function refuseRows(rowsMax: number): BooksError {
  return new BooksError(
    'too_many_rows',
    `there are more than ${rowsMax} rows: name an account, or less time, or take CSV`,
  );
}
