import { type RawBuilder, sql } from 'kysely';
import { MINUTE_MS } from '../../lib/units/time-units.ts';
import type { Books } from '../engine/books.ts';
import { nameDay } from '../engine/days.ts';
import { BooksError } from './books-error.ts';
import { readBooksUntil } from './books-until.ts';
import { type FindName, findNames } from './find-names.ts';
import type { QuestionContext } from './question.ts';
import type { RefusalGroup } from './refusal-groups.ts';
import { yieldTurn } from './yield-turn.ts';

const ROWS_MAX = 10_000;
const MINUTES_OF_HOUR = 60;
const MINUTES_OF_DAY = 1_440;
/** How long the work of one query should take at most, without the way to the server and back. */
const SLOW_MS = 60;

/** Refusals are counted by the minute: one that has begun belongs to it as a whole. */
export interface RefusalsQuery {
  readonly by: RefusalGroup;
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export interface RefusalsReport {
  readonly by: RefusalGroup;
  readonly from: string | null;
  readonly to: string | null;
  /** Times in their order, everything else by its count, the largest first. */
  readonly data: readonly object[];
  readonly total: number;
  readonly books_until: string | null;
}

/** Whole numbers on both engines, as the columns are. */
const GROUPS: Readonly<Record<RefusalGroup, RawBuilder<string | number>>> = {
  refusal: sql`refusal`,
  account: sql`account`,
  key: sql`"key"`,
  minute: sql`minute`,
  hour: sql`minute / ${sql.lit(MINUTES_OF_HOUR)}`,
  day: sql`minute / ${sql.lit(MINUTES_OF_DAY)}`,
};

interface Row {
  readonly name: string | number;
  /** For a key, the only one that it has. */
  readonly account: string;
  readonly count: number;
}

export async function listRefusals(
  context: QuestionContext,
  query: RefusalsQuery,
  signal: AbortSignal,
): Promise<RefusalsReport> {
  const { by, fromMs, toMs } = query;
  const booksUntil = await readBooksUntil(context);
  const rows = await sumRefusals(context, query, signal);
  const isByName = by === 'account' || by === 'key';
  const named = isByName
    ? rows.map(({ name, account: of }) => ({ account: of, key: `${name}` }))
    : [];
  const nameOf = await findNames(context.books, named);
  return {
    by,
    from: fromMs === undefined ? null : new Date(fromMs).toISOString(),
    to: toMs === undefined ? null : new Date(toMs).toISOString(),
    data: rows.sort(compareRows).map((row) => showRow(by, row, nameOf)),
    total: rows.reduce((sum, { count }) => sum + count, 0),
    books_until: booksUntil,
  };
}

async function sumRefusals(
  { books: { db }, share }: QuestionContext,
  query: RefusalsQuery,
  signal: AbortSignal,
): Promise<Row[]> {
  const found = new Map<string | number, Row>();
  const span = await findSpan(db, query);
  let { wayMs } = span;
  let minutes = MINUTES_OF_HOUR;
  for (let from = span.first; from < span.end; ) {
    const until = Math.min(from + minutes, span.end);
    await yieldTurn(signal);
    const startedMs = performance.now();
    const known = found.size;
    for (const row of await sumMinutes(db, query, { from, until })) {
      const before = found.get(row.name);
      const count = row.count + (before?.count ?? 0);
      const isLater = before === undefined || row.account > before.account;
      found.set(row.name, { ...(isLater ? row : before), count });
    }
    if (found.size > ROWS_MAX) throw refuseRows();
    share.add(found.size - known);
    const tookMs = performance.now() - startedMs;
    wayMs = Math.min(wayMs, tookMs);
    const workMs = tookMs - wayMs;
    // An hour is little to sum: if that is slow, more queries would only take longer.
    if (workMs > SLOW_MS) minutes = Math.max(minutes / 2, MINUTES_OF_HOUR);
    else if (workMs < SLOW_MS / 2) minutes *= 2;
    from = until;
  }
  return [...found.values()];
}

/** The minutes that have counts, of whichever account, and how long a query takes without work. */
async function findSpan(db: Books['db'], { fromMs, toMs }: RefusalsQuery) {
  let asked = db.selectFrom('refusals').select('minute').limit(1);
  if (fromMs !== undefined) asked = asked.where('minute', '>=', Math.floor(fromMs / MINUTE_MS));
  if (toMs !== undefined) asked = asked.where('minute', '<', Math.ceil(toMs / MINUTE_MS));
  const first = await asked.orderBy('minute').executeTakeFirst();
  const startedMs = performance.now();
  const last = await asked.orderBy('minute', 'desc').executeTakeFirst();
  const wayMs = performance.now() - startedMs;
  return first === undefined || last === undefined
    ? { first: 0, end: 0, wayMs }
    : { first: first.minute, end: last.minute + 1, wayMs };
}

async function sumMinutes(
  db: Books['db'],
  { by, account, key }: RefusalsQuery,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<Row[]> {
  let asked = db.selectFrom('refusals').where('minute', '>=', from).where('minute', '<', until);
  if (account !== undefined) asked = asked.where('account', '=', account);
  if (key !== undefined) asked = asked.where('key', '=', key);
  return await asked
    .select([
      GROUPS[by].as('name'),
      sql<string>`max(account)`.as('account'),
      sql<number>`sum(count)`.as('count'),
    ])
    .groupBy(GROUPS[by])
    .limit(ROWS_MAX + 1)
    .execute();
}

function refuseRows(): BooksError {
  return new BooksError(
    'too_many_rows',
    `there are more than ${ROWS_MAX} rows: name an account, less time, or another by`,
  );
}

function showRow(by: RefusalGroup, { name, account, count }: Row, nameOf: FindName): object {
  if (typeof name === 'number') return { [by]: showTime(by, name), count };
  if (by === 'refusal') return { refusal: name, count };
  const ofAccount = { account: account || null, account_name: nameOf(account) };
  if (by === 'account') return { ...ofAccount, count };
  return { ...ofAccount, key: name || null, key_name: nameOf(name), count };
}

function compareRows(first: Row, second: Row): number {
  if (typeof first.name === 'number' && typeof second.name === 'number') {
    return first.name - second.name;
  }
  return second.count - first.count || (first.name < second.name ? -1 : 1);
}

function showTime(by: RefusalGroup, number: number): string {
  if (by === 'day') return nameDay(number);
  const minutes = by === 'hour' ? number * MINUTES_OF_HOUR : number;
  return new Date(minutes * MINUTE_MS).toISOString();
}
