import { type SelectQueryBuilder, sql } from 'kysely';
import type { Books } from '../../engine/books.ts';
import { entriesOf } from '../../engine/days.ts';
import type { BooksTables } from '../../engine/tables.ts';
import type { Place } from '../page-cursor.ts';
import { isNarrow, narrow, narrowToIndex, type RequestFilter } from './request-filter.ts';

/** All but the packed details, which take most of the time. */
const COLUMNS = [
  ...(['ms', 'bucket', 'seq', 'kind', 'request', 'account', 'key', 'model', 'upstream'] as const),
  ...(['status', 'outcome', 'refusal', 'streamed', 'estimated', 'searches'] as const),
  ...(['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'thinking'] as const),
  ...(['held', 'charged', 'short', 'cost', 'started_ms', 'first_ms', 'total_ms'] as const),
] as const satisfies readonly (keyof BooksTables['entries'])[];

export type RequestRow = Pick<BooksTables['entries'], (typeof COLUMNS)[number]>;

interface DayScan {
  readonly db: Books['db'];
  readonly day: number;
  readonly filter: RequestFilter;
  /** Only what is older than this. */
  readonly before: Place | undefined;
  readonly rowsMax: number;
  /** Looked at in one query; libsql does nothing else meanwhile. */
  readonly windowRows: number;
}

interface ScannedWindow {
  /** The newest first. */
  readonly rows: readonly RequestRow[];
  /** How many rows were looked at, at most. */
  readonly looked: number;
  /** Everything up to here was looked at; undefined: the whole day. */
  readonly reached: Place | undefined;
}

type Select<Row> = SelectQueryBuilder<BooksTables, 'entries', Row>;

/**
 * Finds the newest rows that match, and looks at `windowRows` at most. The rows that an index
 * leads to are a window, in which the other conditions are looked for.
 */
export async function scanDay(scan: DayScan): Promise<ScannedWindow> {
  const { db, day, filter, before, rowsMax, windowRows } = scan;
  const table = db.selectFrom(entriesOf(day));
  const inOrder = <Row>(query: Select<Row>) =>
    query.orderBy('ms', 'desc').orderBy('bucket', 'desc').orderBy('seq', 'desc');
  const findRows = (floor: Place | undefined) => {
    const inTime = narrowToTime(narrow(table.select(COLUMNS), filter), filter, before);
    const inWindow = floor === undefined ? inTime : narrowToFloor(inTime, floor);
    return inOrder(inWindow).limit(rowsMax).execute();
  };
  const endAt = (rows: readonly RequestRow[], looked: number, floor: Place | undefined) => ({
    ...{ rows, looked },
    reached: rows.length < rowsMax ? floor : rows.at(-1),
  });

  if (isNarrow(filter)) {
    const rows = await findRows(undefined);
    return endAt(rows, rows.length, undefined);
  }
  const window = () =>
    inOrder(
      narrowToTime(narrowToIndex(table.select(['ms', 'bucket', 'seq']), filter), filter, before),
    );
  const floor = await window()
    .offset(windowRows - 1)
    .limit(1)
    .executeTakeFirst();
  const looked = floor === undefined ? await countRows(db, window()) : windowRows;
  if (looked === 0) return endAt([], 0, undefined);
  return endAt(await findRows(floor), looked, floor);
}

async function countRows(db: Books['db'], window: Select<object>): Promise<number> {
  const { count } = await db
    .selectFrom(window.as('looked_at'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

function narrowToTime<Row>(
  query: Select<Row>,
  { fromMs, toMs }: RequestFilter,
  before: Place | undefined,
): Select<Row> {
  let narrowed = query;
  if (fromMs !== undefined) narrowed = narrowed.where('ms', '>=', fromMs);
  if (toMs !== undefined) narrowed = narrowed.where('ms', '<', toMs);
  if (before === undefined) return narrowed;
  const { ms, bucket, seq } = before;
  // The first condition is what an index by time alone can use.
  return narrowed
    .where('ms', '<=', ms)
    .where(sql<boolean>`(ms, bucket, seq) < (${ms}, ${bucket}, ${seq})`);
}

function narrowToFloor<Row>(query: Select<Row>, { ms, bucket, seq }: Place): Select<Row> {
  return query
    .where('ms', '>=', ms)
    .where(sql<boolean>`(ms, bucket, seq) >= (${ms}, ${bucket}, ${seq})`);
}
