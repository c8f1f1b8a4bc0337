import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { findSlice, listSliceConditions } from '../engine/account-slices.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { hourOfMs, msOfDay } from '../engine/days.ts';
import { limitLockWait } from '../engine/migrate-books.ts';
import { daysOfMonth, monthOfDay } from '../engine/months.ts';
import { SUM_COLUMNS } from '../engine/tables.ts';

/** Their sums are written in one transaction. In a file, entries wait for it to end. */
const ACCOUNTS_MAX = 1_000;
const USAGE_KEY = ['account', 'group', 'key', 'model', 'upstream'] as const;

/** The first month with usage that has ended before this day and is not closed. */
export async function findMonthToClose(
  { db }: Pick<Books, 'db'>,
  beforeDay: number,
  afterMonth?: string,
): Promise<string | undefined> {
  const closed = new Set(await listClosedMonths({ db }));
  for (let day = afterMonth === undefined ? 0 : daysOfMonth(afterMonth).end; ; ) {
    const month = monthOfDay(day);
    const { end } = daysOfMonth(month);
    if (end > beforeDay) return undefined;
    const usedDay = closed.has(month) ? end : await findUsedDay(db, day);
    if (usedDay === undefined) return undefined;
    if (usedDay < end) return month;
    day = usedDay;
  }
}

async function findUsedDay(db: Books['db'], fromDay: number): Promise<number | undefined> {
  const found = await db
    .selectFrom('account_days')
    .select('day')
    .where('day', '>=', fromDay)
    .orderBy('day')
    .limit(1)
    .executeTakeFirst();
  return found?.day;
}

export async function listClosedMonths({ db }: Pick<Books, 'db'>): Promise<string[]> {
  const rows = await db
    .selectFrom('closed_months')
    .select('month')
    .where('sums', 'is not', null)
    .orderBy('month')
    .execute();
  return rows.map(({ month }) => month);
}

/**
 * Sums up the usage of a month by key, model and upstream, so that a question about a year reads a
 * thirtieth of the rows. It stays open if an entry of it comes meanwhile, and another node may then
 * begin to close it: each closing has an id, and ends when it is no longer the last.
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
  const closing = randomUUID();
  await db.transaction().execute(async (tx) => {
    // A batch that has not opened the month yet does it after this, and then finds the row.
    if (engine === 'postgres') {
      await limitLockWait(engine, tx);
      await sql`lock table closed_months in share row exclusive mode`.execute(tx);
    }
    await openMonth(tx, month);
    await tx
      .insertInto('closed_months')
      .values({ month, closing, sums: null, verified_ms: null })
      .execute();
  });
  for (let after: string | undefined; ; ) {
    signal.throwIfAborted();
    const slice = await findSlice({ db }, after, ACCOUNTS_MAX);
    const conditions = listSliceConditions(slice);
    const isOpen = await db.transaction().execute(async (tx) => {
      if (!(await isLastClosing(tx, month, closing))) return true;
      await sumSlice(tx, month, conditions);
      return false;
    });
    if (isOpen) return;
    if (slice.upTo === undefined) break;
    after = slice.upTo;
  }
  const sums = await readSums(db, 'usage_months', sql`month = ${month}`);
  await db
    .updateTable('closed_months')
    .set({ sums })
    .where('month', '=', month)
    .where('closing', '=', closing)
    .execute();
}

/** Whether nothing has opened the month since this closing began. */
export async function isLastClosing(
  tx: BooksTransaction,
  month: string,
  closing: string,
): Promise<boolean> {
  const found = await tx
    .selectFrom('closed_months')
    .select('closing')
    .where('month', '=', month)
    .executeTakeFirst();
  return found?.closing === closing;
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
  const closed = await db
    .selectFrom('closed_months')
    .select(['month', 'sums'])
    .where('sums', 'is not', null)
    .execute();
  for (const { month, sums } of closed) {
    const { first, end } = daysOfMonth(month);
    const [from, to] = [hourOfMs(msOfDay(first)), hourOfMs(msOfDay(end))];
    const now = await readSums(db, 'fleet_hours', sql`hour >= ${from} and hour < ${to}`);
    if (now !== sums) await openMonth(db, month);
  }
}

async function readSums(
  db: Books['db'],
  table: 'usage_months' | 'fleet_hours',
  condition: RawBuilder<unknown>,
): Promise<string> {
  const sums = SUM_COLUMNS.map((name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`);
  const { rows } = await sql<Readonly<Record<string, number | null>>>`
    select ${sql.join(sums)} from ${sql.table(table)} where ${condition}`.execute(db);
  return JSON.stringify(SUM_COLUMNS.map((name) => Number(rows[0]?.[name] ?? 0)));
}

/** The month answers no questions until it is closed again. */
export async function openMonth(db: Pick<Books['db'], 'deleteFrom'>, month: string): Promise<void> {
  await db.deleteFrom('closed_months').where('month', '=', month).execute();
}
