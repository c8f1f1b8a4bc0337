import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../../lib/time/clock.ts';
import { isLastClosing, openMonth } from '../duties/close-month.ts';
import { findSlice, listSliceConditions } from '../engine/account-slices.ts';
import type { Books } from '../engine/books.ts';
import { daysOfMonth } from '../engine/months.ts';
import { readSnapshot } from '../engine/read-snapshot.ts';
import { compareSums, DRIFTS_SHOWN_MAX, rollupSide, USAGE_KEYS } from './compare-sums.ts';
import type { SumDrift } from './ledger-report.ts';

interface CheckMonthsOptions {
  readonly books: Books;
  readonly clock: Clock;
  /** Whether to compare months again that were compared before, and by key and model. */
  readonly isFull: boolean;
  readonly signal: AbortSignal;
  readonly accountsMax?: number;
}

type Condition = RawBuilder<unknown>;

/** Accounts that one statement compares: it ends long before the client gives it up. */
const ACCOUNTS_MAX = 10_000;

/**
 * Compares the sums of each closed month with those of its days. A month with a difference is
 * opened, so the node that writes the books sums it up again.
 */
export async function checkMonths(options: CheckMonthsOptions): Promise<SumDrift[]> {
  const { books, clock, isFull } = options;
  let closed = books.db
    .selectFrom('closed_months')
    .select(['month', 'closing'])
    .where('sums', 'is not', null)
    .orderBy('month');
  if (!isFull) closed = closed.where('verified_ms', 'is', null);
  const drifts: SumDrift[] = [];
  for (const { month, closing } of await closed.execute()) {
    const found = await checkMonth(options, month, closing);
    if (found.length > 0) await openMonth(books.db, month);
    else await keepVerified(books, month, closing, clock.nowMs());
    drifts.push(...found.slice(0, DRIFTS_SHOWN_MAX));
  }
  return drifts;
}

async function checkMonth(
  { books, isFull, signal, accountsMax = ACCOUNTS_MAX }: CheckMonthsOptions,
  month: string,
  closing: string,
): Promise<SumDrift[]> {
  const { first, end } = daysOfMonth(month);
  const name = `${month.slice(0, 'yyyy'.length)}-${month.slice('yyyy'.length)}`;
  const keys = isFull ? USAGE_KEYS : ['account'];
  const drifts: SumDrift[] = [];
  for (let after: string | undefined; ; ) {
    signal.throwIfAborted();
    const slice = await findSlice(books, after, accountsMax);
    const conditions = listSliceConditions(slice);
    const and = (condition: Condition) => sql.join([condition, ...conditions], sql` and `);
    const sums = rollupSide('usage_months', and(sql`month = ${month}`), keys);
    const table = isFull ? 'usage_days' : 'account_days';
    const rows = rollupSide(table, and(sql`day >= ${first} and day < ${end}`), keys);
    const found = await readSnapshot(books, async (tx) =>
      (await isLastClosing(tx, month, closing))
        ? await compareSums(tx, name, sums, rows)
        : undefined,
    );
    // It has been opened, and what was found before is gone with its sums.
    if (found === undefined) return [];
    drifts.push(...found);
    if (slice.upTo === undefined) return drifts;
    after = slice.upTo;
  }
}

/** Does nothing if the month was opened or closed again since it was compared. */
async function keepVerified(
  { db }: Books,
  month: string,
  closing: string,
  nowMs: number,
): Promise<void> {
  await db
    .updateTable('closed_months')
    .set({ verified_ms: nowMs })
    .where('month', '=', month)
    .where('closing', '=', closing)
    .execute();
}
