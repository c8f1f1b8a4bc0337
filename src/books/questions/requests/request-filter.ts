import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { BooksTables, EntryKind } from '../../engine/tables.ts';

/** Undefined fields do not matter. Both ends of a span belong to it, except for `toMs`. */
export interface RequestFilter {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly group?: string | undefined;
  readonly end_user?: string | undefined;
  readonly model?: string | undefined;
  readonly upstream?: string | undefined;
  readonly status?: Span | undefined;
  readonly outcome?: string | undefined;
  readonly kind?: EntryKind | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly chargedMicros?: Partial<Span> | undefined;
  readonly durationMs?: Partial<Span> | undefined;
}

export interface Span {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

const COLUMNS = ['key', 'group', 'end_user', 'model', 'upstream', 'outcome', 'kind'] as const;

type Select<Row> = SelectQueryBuilder<BooksTables, 'entries', Row>;

/** Narrows a query to what an index finds: an account, what did not go well, or both. */
function narrowToIndex<Row>(query: Select<Row>, filter: RequestFilter): Select<Row> {
  const { account } = filter;
  const ofAccount = account === undefined ? query : query.where('account', '=', account);
  // Written as in the indexes: with a parameter they would not be used.
  return isAboutFailures(filter) ? ofAccount.where(sql<boolean>`outcome <> 'complete'`) : ofAccount;
}

/** Whether an index leads to nothing but what is asked. */
export function isNarrow(filter: RequestFilter): boolean {
  const { account, fromMs, toMs, ...rest } = filter;
  return Object.values(rest).every((value) => value === undefined);
}

export function narrow<Row>(query: Select<Row>, filter: RequestFilter): Select<Row> {
  let narrowed = narrowToIndex(query, filter);
  for (const name of COLUMNS) {
    const value = filter[name];
    if (value !== undefined) narrowed = narrowed.where(name, '=', value);
  }
  narrowed = narrowToSpan(narrowed, 'status', filter.status);
  // The sign keeps engines from reading all rows by what they cost, and sorting them afterwards.
  narrowed = narrowToSpan(narrowed, sql<number>`+charged`, filter.chargedMicros);
  return narrowToSpan(narrowed, sql<number>`+total_ms`, filter.durationMs);
}

export function narrowToSpan<Row>(
  query: Select<Row>,
  column: 'status' | 'charged' | 'total_ms' | RawBuilder<number>,
  { min, max }: Partial<Span> = {},
): Select<Row> {
  const above = min === undefined ? query : query.where(column, '>=', min);
  return max === undefined ? above : above.where(column, '<=', max);
}

const COMPLETE_STATUS = 200;

/** A request is complete when the whole answer has gone out, which begins with 200. */
export function isAboutFailures({ outcome, status }: RequestFilter): boolean {
  if (outcome !== undefined) return outcome !== 'complete';
  const { min = 0, max = Number.POSITIVE_INFINITY } = status ?? {};
  return min > COMPLETE_STATUS || max < COMPLETE_STATUS;
}
