import { type RawBuilder, sql } from 'kysely';
import { findSlice, listSliceConditions } from '../engine/account-slices.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { hourOfMs, msOfDay } from '../engine/days.ts';
import { limitLockWait } from '../engine/migrate-books.ts';
import { daysOfMonth, monthOfDay } from '../engine/months.ts';
import { SUM_COLUMNS } from '../engine/tables.ts';

/** Their sums are written in one transaction, and entries wait for its end in a file. */
const ACCOUNTS_MAX = 1_000;
const USAGE_KEY = ['account', 'group', 'key', 'model', 'upstream'] as const;

/** The first month that has ended before this day and is not closed; undefined if there is none. */
export async function findMonthToClose(
  { db }: Pick<Books, 'db'>,
  beforeDay: number,
): Promise<string | undefined> {
  const first = await db
    .selectFrom('account_days')
    .select('day')
    .orderBy('day')
    .limit(1)
    .executeTakeFirst();
  if (first === undefined) return undefined;
  const closed = new Set(await listClosedMonths({ db }));
  for (let { day } = first; ; ) {
    const month = monthOfDay(day);
    const { end } = daysOfMonth(month);
    if (end > beforeDay) return undefined;
    if (!closed.has(month)) return month;
    day = end;
  }
}

export async function listClosedMonths({ db }: Pick<Books, 'db'>): Promise<string[]> {
  const rows = await db
    .selectFrom('closed_months')
    .select('month')
    .where('entries', 'is not', null)
    .orderBy('month')
    .execute();
  return rows.map(({ month }) => month);
}

/**
 * Sums up the usage of a month by key, model and upstream, so that a question about a year reads a
 * thirtieth of the rows. It stays open if an entry of it comes meanwhile.
 *
 *   open ──▶ being closed ──▶ closed
 *    ▲             │             │
 *    └────── an entry of it ─────┘
 */
export async function closeMonth(
  { engine, db }: Books,
  month: string,
  signal: AbortSignal,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // A batch that has not opened the month yet does it after this, and then finds the row.
    if (engine === 'postgres') {
      await limitLockWait(engine, tx);
      await sql`lock table closed_months in share row exclusive mode`.execute(tx);
    }
    await openMonth(tx, month);
    await tx
      .insertInto('closed_months')
      .values({ month, entries: null, verified_ms: null })
      .execute();
  });
  for (let after: string | undefined; ; ) {
    signal.throwIfAborted();
    const slice = await findSlice({ db }, after, ACCOUNTS_MAX);
    const conditions = listSliceConditions(slice);
    await db.transaction().execute((tx) => sumSlice(tx, month, conditions));
    if (slice.upTo === undefined) break;
    after = slice.upTo;
  }
  await sql`
    update closed_months
    set entries = (select coalesce(sum(entries), 0) from usage_months where month = ${month})
    where month = ${month}`.execute(db);
}

async function sumSlice(
  tx: BooksTransaction,
  month: string,
  conditions: readonly RawBuilder<unknown>[],
): Promise<void> {
  const { first, end } = daysOfMonth(month);
  const days = Array.from({ length: end - first }, (_, i) => first + i);
  const and = (condition: RawBuilder<unknown>) => sql.join([condition, ...conditions], sql` and `);
  const key = sql.join(USAGE_KEY.map((name) => sql.ref(name)));
  const names = sql.join(SUM_COLUMNS.map((name) => sql.ref(name)));
  const sums = sql.join(SUM_COLUMNS.map((name) => sql`sum(${sql.ref(name)})`));
  await sql`delete from usage_months where ${and(sql`month = ${month}`)}`.execute(tx);
  await sql`
    insert into usage_months (month, ${key}, ${names})
    select ${month}, ${key}, ${sums} from usage_days
    where ${and(sql`day in (${sql.join(days)})`)}
    group by ${key}`.execute(tx);
}

/** Opens the months that a node of an earlier version has written to: it left them closed. */
export async function openUnlikeMonths({ db }: Pick<Books, 'db'>): Promise<void> {
  const closed = await db.selectFrom('closed_months').selectAll().execute();
  for (const { month, entries } of closed) {
    const { first, end } = daysOfMonth(month);
    const found = await db
      .selectFrom('fleet_hours')
      .select(({ fn }) => fn.sum<number | null>('entries').as('entries'))
      .where('hour', '>=', hourOfMs(msOfDay(first)))
      .where('hour', '<', hourOfMs(msOfDay(end)))
      .executeTakeFirst();
    if ((found?.entries ?? 0) !== entries) await openMonth(db, month);
  }
}

/** It answers no more, until it is closed again. */
export async function openMonth(db: Pick<Books['db'], 'deleteFrom'>, month: string): Promise<void> {
  await db.deleteFrom('closed_months').where('month', '=', month).execute();
}
