import { type SelectQueryBuilder, sql } from 'kysely';
import type { Books } from '../../engine/books.ts';
import { entriesOf } from '../../engine/days.ts';
import type { BooksTables } from '../../engine/tables.ts';
import type { Place } from '../page-cursor.ts';
import { narrow, narrowToSpan, type RequestFilter, type Span } from './request-filter.ts';
import type { DaySlice } from './slice-day.ts';

/** All but the packed details, which take most of the time. */
const COLUMNS = [
  ...(['ms', 'bucket', 'seq', 'kind', 'request', 'account', 'key', 'model', 'upstream'] as const),
  ...(['status', 'outcome', 'refusal', 'streamed', 'estimated', 'searches'] as const),
  ...(['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'thinking'] as const),
  ...(['held', 'charged', 'short', 'cost', 'started_ms', 'first_ms', 'total_ms'] as const),
] as const satisfies readonly (keyof BooksTables['entries'])[];

/** Those that only a filter needs. */
const FILTERED_COLUMNS = ['group', 'end_user'] as const;

export type RequestRow = Pick<BooksTables['entries'], (typeof COLUMNS)[number]>;

export interface RowSearch {
  readonly db: Books['db'];
  readonly day: number;
  readonly filter: RequestFilter;
  /** Only what is older than this. */
  readonly before: Place | undefined;
  readonly rowsMax: number;
}

/** Finds the newest rows of a day, or of a part of it, that match. */
export function scanDay(scan: RowSearch, slice?: DaySlice): Promise<RequestRow[]> {
  const { db, day, filter } = scan;
  const query = narrow(db.selectFrom(entriesOf(day)).select(COLUMNS), filter);
  return newestOf(narrowToTime(query, scan, slice), scan).execute();
}

/** Does the same for whole days in one query: separate ones would take as long as all others. */
export function scanDayGroup(
  scan: Omit<RowSearch, 'day'>,
  [first, ...others]: readonly [number, ...number[]],
): Promise<RequestRow[]> {
  const { db, filter } = scan;
  const newestOfDay = (day: number) => {
    const query = narrow(db.selectFrom(entriesOf(day)).select(COLUMNS), filter);
    // SQLite takes an order and a limit for a part only if it is a query of its own.
    return db.selectFrom(newestOf(narrowToTime(query, scan), scan).as('entries')).selectAll();
  };
  const parts = others.map(newestOfDay);
  const all = parts.reduce((query, part) => query.unionAll(part), newestOfDay(first));
  return newestOf(all as Select<RequestRow>, scan).execute();
}

/** More rows of a day than these are frequent: they are found sooner in the order of time. */
export const RARE_ROWS_MAX = 500;

/**
 * Finds the same rows by what they cost or how long they took, if few of the day did. Undefined if
 * that is not asked, or true of many.
 */
export async function findRareRows(scan: RowSearch): Promise<RequestRow[] | undefined> {
  const { chargedMicros, durationMs } = scan.filter;
  const ofCost = chargedMicros && (await findInSpan(scan, 'charged', chargedMicros));
  if (ofCost !== undefined) return ofCost;
  return durationMs && (await findInSpan(scan, 'total_ms', durationMs));
}

async function findInSpan(
  scan: RowSearch,
  column: 'charged' | 'total_ms',
  span: Partial<Span>,
): Promise<RequestRow[] | undefined> {
  const { db, day, filter } = scan;
  const rows = db.selectFrom(entriesOf(day)).select([...COLUMNS, ...FILTERED_COLUMNS]);
  const inSpan = narrowToSpan(rows, column, span)
    // An order that only the index has, so that the engine takes no other way.
    .orderBy(column, span.min === undefined ? 'asc' : 'desc')
    .limit(RARE_ROWS_MAX + 1);
  // Named as the table, so that it is narrowed in the same words.
  const rare = db.selectFrom('entries');
  const count = rare.select(({ fn }) => fn.countAll<number>().as('count'));
  const wanted = narrowToTime(narrow(rare.select(COLUMNS), filter), scan);
  const found = await db
    .with(
      (cte) => cte('entries').materialized(),
      () => inSpan,
    )
    .selectFrom(count.as('all'))
    .leftJoin(newestOf(wanted, scan).as('found'), (join) => join.onTrue())
    .select('all.count')
    .selectAll('found')
    .execute();
  if ((found[0]?.count ?? 0) > RARE_ROWS_MAX) return undefined;
  return found
    .filter(({ ms }) => ms !== null)
    .map(({ count, ...row }) => row as RequestRow)
    .sort((a, b) => b.ms - a.ms || b.bucket - a.bucket || b.seq - a.seq);
}

type Select<Row> = SelectQueryBuilder<BooksTables, 'entries', Row>;

function newestOf<Row>(
  query: Select<Row>,
  { filter, rowsMax }: Pick<RowSearch, 'filter' | 'rowsMax'>,
): Select<Row> {
  const byTime = query.orderBy('ms', 'desc');
  // An account has one bucket, and its index knows none.
  const inOrder = filter.account === undefined ? byTime.orderBy('bucket', 'desc') : byTime;
  return inOrder.orderBy('seq', 'desc').limit(rowsMax);
}

function narrowToTime<Row>(
  query: Select<Row>,
  { filter: { fromMs, toMs }, before }: Pick<RowSearch, 'filter' | 'before'>,
  slice?: DaySlice,
): Select<Row> {
  let narrowed = query;
  const from = Math.max(fromMs ?? 0, slice?.fromMs ?? 0);
  const to = Math.min(toMs ?? Number.MAX_SAFE_INTEGER, slice?.toMs ?? Number.MAX_SAFE_INTEGER);
  if (from > 0) narrowed = narrowed.where('ms', '>=', from);
  if (to < Number.MAX_SAFE_INTEGER) narrowed = narrowed.where('ms', '<', to);
  if (before === undefined) return narrowed;
  const { ms, bucket, seq } = before;
  // The first condition is what an index by time alone can use.
  return narrowed
    .where('ms', '<=', ms)
    .where(sql<boolean>`(ms, bucket, seq) < (${ms}, ${bucket}, ${seq})`);
}
