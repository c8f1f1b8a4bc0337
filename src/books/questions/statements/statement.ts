import { bucketOfAccount } from '../../../keys/account-id.ts';
import { creditsOf } from '../../../lib/units/micros.ts';
import type { Books } from '../../engine/books.ts';
import { dayOfMs } from '../../engine/days.ts';
import { readSnapshot } from '../../engine/read-snapshot.ts';
import { INGEST_PACE } from '../../ingest/ingest-pace.ts';
import { BooksError } from '../books-error.ts';
import { readBooksUntil } from '../books-until.ts';
import { countMissing, type MissingCounts } from '../count-missing.ts';
import { findNames } from '../find-names.ts';
import type { QuestionContext } from '../question.ts';
import { addSums, readUsage, type UsageRow } from '../usage/read-usage.ts';
import {
  chargedOf,
  NO_SUMS,
  type ShownUsage,
  showSums,
  showUsage,
  type UsageSums,
} from '../usage/show-usage.ts';
import { sumPayments } from '../usage/sum-payments.ts';
import { columnsOf, type UsageGroup } from '../usage/usage-query.ts';
import { yieldTurn } from '../yield-turn.ts';

/** The most rows of an account in a month: its keys with their models, and its payments. */
const ROWS_MAX = 100_000;
/** A failover may take entries back, and bring them again, for as long as Redis keeps them. */
const CLOSED_AFTER_MS = INGEST_PACE.keepMs;

export interface StatementQuery {
  readonly account: string;
  /** `yyyy-mm`, in UTC. */
  readonly month: string;
}

/** Names are those of the admin API. */
export interface Statement {
  readonly account: string;
  readonly account_name: string | null;
  readonly month: string;
  /** All payments less all charges before the month. */
  readonly opening_balance: number;
  readonly closing_balance: number;
  /** The month is over, and what was entered in it is in the books and cannot change any more. */
  readonly is_closed: boolean;
  /** What the bucket of the account lacks before the end of the month; null if nothing. */
  readonly incomplete: MissingCounts | null;
  /** The oldest first. */
  readonly payments: readonly StatedPayment[];
  /** What was paid in, less what was taken back. */
  readonly paid: number;
  readonly charged: number;
  readonly by_model: readonly ShownUsage[];
  readonly by_key: readonly ShownUsage[];
  readonly total: UsageSums;
  readonly books_until: string | null;
}

export interface StatedPayment {
  readonly time: string;
  readonly id: string;
  readonly kind: string;
  readonly amount: number;
  readonly note: string | null;
  readonly balance: number;
}

/**
 * States what an account had, paid and used in a month. An entry belongs to the month in which it
 * was entered, so the closing balance of a month is the opening balance of the next one.
 */
export async function readStatement(
  context: QuestionContext,
  { account, month }: StatementQuery,
  signal: AbortSignal,
): Promise<Statement> {
  const { books, clock, share } = context;
  const nowMs = clock.nowMs();
  const booksUntil = await readBooksUntil(context);
  const { fromMs, toMs } = spanOfMonth(month);
  await yieldTurn(signal);
  const { isWaiting, incomplete, openingMicros, payments, models, keys, total } =
    await readSnapshot(books, (db) =>
      readMonth({ books: { ...books, db }, share }, { account, fromMs, toMs }, signal),
    );
  const nameOf = await findNames(books, [{ account }, ...keys.map(([key]) => ({ key }))]);
  const paidMicros = payments.reduce((sum, { amount }) => sum + amount, 0);
  const show = (group: UsageGroup, rows: NamedSums[]) =>
    rows.map(([name, sums]) => showUsage([group], { names: [name], sums }, nameOf));
  return {
    account,
    account_name: nameOf(account),
    month,
    opening_balance: creditsOf(openingMicros),
    closing_balance: creditsOf(openingMicros + paidMicros - chargedOf(total)),
    is_closed: !isWaiting && isSettled(booksUntil, toMs, nowMs),
    incomplete,
    payments: payments.map(({ ms, payment, kind, amount, note, balance }) => ({
      ...{ time: new Date(ms).toISOString(), id: payment, kind, amount: creditsOf(amount) },
      ...{ note, balance: creditsOf(balance) },
    })),
    paid: creditsOf(paidMicros),
    charged: creditsOf(chargedOf(total)),
    by_model: show('model', models),
    by_key: show('key', keys),
    total: showSums(total),
    books_until: booksUntil,
  };
}

function isSettled(booksUntil: string | null, toMs: number, nowMs: number): boolean {
  const closedMs = toMs + CLOSED_AFTER_MS;
  return nowMs >= closedMs && booksUntil !== null && Date.parse(booksUntil) >= closedMs;
}

interface AccountSpan {
  readonly account: string;
  readonly fromMs: number;
  readonly toMs: number;
}

function spanOfMonth(month: string) {
  const first = new Date(`${month}-01T00:00:00Z`);
  const next = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1);
  return { fromMs: first.getTime(), toMs: next };
}

/** Whether late entries may count yet, once somebody has compared them with the archive. */
async function hasDoubtful({ db }: Books, account: string, toMs: number): Promise<boolean> {
  const found = await db
    .selectFrom('doubtful')
    .select('ms')
    .where('account', '=', account)
    .where('ms', '<', toMs)
    .limit(1)
    .execute();
  return found.length > 0;
}

/** Includes what is missing before the month: the opening balance lacks it. */
async function findMissing(
  books: Books,
  account: string,
  toMs: number,
): Promise<MissingCounts | null> {
  const losses = await countMissing(books, { bucket: bucketOfAccount(account) ?? -1, toMs });
  return losses.gaps + losses.damaged_lines === 0 ? null : losses;
}

/** At the beginning of a day, in micros. */
async function readBalance(books: Books, account: string, atMs: number): Promise<number> {
  const { charged } = await books.db
    .selectFrom('account_days')
    .select(({ fn }) => fn.sum<number | null>('charged').as('charged'))
    .where('account', '=', account)
    .where('day', '<', dayOfMs(atMs))
    .executeTakeFirstOrThrow();
  return (await sumPayments(books, { account, toMs: atMs })) - (charged ?? 0);
}

type MonthContext = Pick<QuestionContext, 'books' | 'share'>;

async function listPayments({ books: { db }, share }: MonthContext, span: AccountSpan) {
  const { account, fromMs, toMs } = span;
  const payments = await db
    .selectFrom('payments')
    .select(['ms', 'payment', 'kind', 'amount', 'note', 'balance'])
    .where('account', '=', account)
    .where('ms', '>=', fromMs)
    .where('ms', '<', toMs)
    .orderBy('ms')
    .orderBy('seq')
    .limit(ROWS_MAX + 1)
    .execute();
  if (payments.length > ROWS_MAX) {
    throw new BooksError('too_many_rows', `the month has more than ${ROWS_MAX} payments`);
  }
  share.add(payments.length);
  return payments;
}

type NamedSums = readonly [name: string, sums: readonly number[]];

/** Entries that come in meanwhile would be in one part and not in another. */
async function readMonth(context: MonthContext, span: AccountSpan, signal: AbortSignal) {
  const { books } = context;
  const { account, fromMs, toMs } = span;
  return {
    isWaiting: await hasDoubtful(books, account, toMs),
    incomplete: await findMissing(books, account, toMs),
    openingMicros: await readBalance(books, account, fromMs),
    payments: await listPayments(context, span),
    ...(await sumUsage(context, span, signal)),
  };
}

async function sumUsage(context: MonthContext, span: AccountSpan, signal: AbortSignal) {
  const by = ['key', 'model'] as const;
  const columns = columnsOf(by);
  const [models, keys] = [new Map<string, number[]>(), new Map<string, number[]>()];
  const total = [...NO_SUMS];
  const add = (rows: Map<string, number[]>, column: UsageGroup, { names, sums }: UsageRow) => {
    const name = String(names[columns.indexOf(column)] ?? '');
    const row = rows.get(name) ?? [...NO_SUMS];
    rows.set(name, row);
    addSums(row, sums);
  };
  for await (const rows of readUsage(context, { ...span, by, rowsMax: ROWS_MAX }, signal)) {
    const known = models.size + keys.size;
    for (const row of rows) {
      add(models, 'model', row);
      add(keys, 'key', row);
      addSums(total, row.sums);
    }
    context.share.drop(rows.length);
    context.share.add(models.size + keys.size - known);
  }
  return { models: sortByName(models), keys: sortByName(keys), total };
}

function sortByName(rows: ReadonlyMap<string, number[]>): NamedSums[] {
  return [...rows].sort(([first], [second]) => (first < second ? -1 : 1));
}
