import { type SelectQueryBuilder, sql } from 'kysely';
import type { Books } from '../../engine/books.ts';
import { dayOfMs, entriesOf } from '../../engine/days.ts';
import { listDays } from '../../engine/migrate-books.ts';
import type { BooksTables, EntryRow, PaymentRow } from '../../engine/tables.ts';
import type { Place } from '../page-cursor.ts';
import { yieldTurn } from '../yield-turn.ts';

/** Entries in a page, and as many payments. */
export const LEDGER_PAGE_ROWS = 500;

/** Undefined fields do not matter. */
export interface EntriesQuery {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly fromMs?: number | undefined;
  /** The first moment that does not belong to it any more. */
  readonly toMs?: number | undefined;
}

/** Entries of the ledger, the oldest first; refused requests are not among them. */
export async function* readEntries(
  { db }: Books,
  query: EntriesQuery,
  signal: AbortSignal,
): AsyncGenerator<EntryRow> {
  const { account, key, fromMs = Number.NEGATIVE_INFINITY, toMs } = query;
  const lastDay = toMs === undefined ? Number.POSITIVE_INFINITY : dayOfMs(toMs - 1);
  const days = (await listDays({ db })).filter((day) => day >= dayOfMs(fromMs) && day <= lastDay);
  for (const day of days.reverse()) {
    let asked = db.selectFrom(entriesOf(day)).selectAll().where('kind', '<>', 'refused');
    if (account !== undefined) asked = asked.where('account', '=', account);
    if (key !== undefined) asked = asked.where('key', '=', key);
    yield* readPages(narrowToTime(asked, query), signal);
  }
}

/** Payments, the oldest first; a key has none. */
export async function* readPayments(
  { db }: Books,
  query: EntriesQuery,
  signal: AbortSignal,
): AsyncGenerator<PaymentRow> {
  if (query.key !== undefined) return;
  const asked = db.selectFrom('payments').selectAll();
  const narrowed = query.account === undefined ? asked : asked.where('account', '=', query.account);
  yield* readPages(narrowToTime(narrowed, query), signal);
}

type Select<Table extends 'entries' | 'payments'> = SelectQueryBuilder<
  BooksTables,
  Table,
  BooksTables[Table]
>;

function narrowToTime<Table extends 'entries' | 'payments'>(
  query: Select<Table>,
  { fromMs, toMs }: EntriesQuery,
): Select<Table> {
  let narrowed = query;
  if (fromMs !== undefined) narrowed = narrowed.where(sql<boolean>`ms >= ${fromMs}`);
  if (toMs !== undefined) narrowed = narrowed.where(sql<boolean>`ms < ${toMs}`);
  return narrowed;
}

async function* readPages<Table extends 'entries' | 'payments'>(
  query: Select<Table>,
  signal: AbortSignal,
): AsyncGenerator<BooksTables[Table]> {
  const inOrder = query
    .orderBy(sql`ms`)
    .orderBy(sql`bucket`)
    .orderBy(sql`seq`)
    .limit(LEDGER_PAGE_ROWS);
  let after: Place | undefined;
  for (;;) {
    await yieldTurn(signal);
    const page = await (after === undefined ? inOrder : goOnAfter(inOrder, after)).execute();
    yield* page as BooksTables[Table][];
    if (page.length < LEDGER_PAGE_ROWS) return;
    after = page.at(-1) as Place | undefined;
  }
}

function goOnAfter<Table extends 'entries' | 'payments'>(
  query: Select<Table>,
  { ms, bucket, seq }: Place,
): Select<Table> {
  // The first condition is what an index by time alone can use.
  return query
    .where(sql<boolean>`ms >= ${ms}`)
    .where(sql<boolean>`(ms, bucket, seq) > (${ms}, ${bucket}, ${seq})`);
}
