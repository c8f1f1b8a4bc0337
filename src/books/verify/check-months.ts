import type { Clock } from '../../lib/time/clock.ts';
import { openMonth } from '../duties/close-month.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { daysOfMonth } from '../engine/months.ts';
import { readSnapshot } from '../engine/read-snapshot.ts';
import { compareSums, rollupSide, USAGE_KEYS } from './compare-sums.ts';
import type { SumDrift } from './ledger-report.ts';

interface CheckMonthsOptions {
  readonly books: Books;
  readonly clock: Clock;
  /** Whether to compare months again that were compared before, and by key and model. */
  readonly isFull: boolean;
  readonly signal: AbortSignal;
}

/**
 * Compares the sums of each closed month with those of its days. A month with a difference is
 * opened, so the node that writes the books sums it up again.
 */
export async function checkMonths(options: CheckMonthsOptions): Promise<SumDrift[]> {
  const { books, clock, isFull, signal } = options;
  let closed = books.db.selectFrom('closed_months').select('month').orderBy('month');
  if (!isFull) closed = closed.where('verified_ms', 'is', null);
  const drifts: SumDrift[] = [];
  for (const { month } of await closed.execute()) {
    signal.throwIfAborted();
    const found = await readSnapshot(books, (tx) => checkMonth(tx, month, isFull));
    if (found === undefined) continue;
    if (found.length === 0) await keepVerified(books, month, clock.nowMs());
    else await openMonth(books.db, month);
    drifts.push(...found);
  }
  return drifts;
}

/** Undefined if the month is not closed any more. */
async function checkMonth(
  tx: BooksTransaction,
  month: string,
  isFull: boolean,
): Promise<SumDrift[] | undefined> {
  const closed = await tx
    .selectFrom('closed_months')
    .select('month')
    .where('month', '=', month)
    .where('entries', 'is not', null)
    .executeTakeFirst();
  if (closed === undefined) return undefined;
  const { first, end } = daysOfMonth(month);
  const days = `day >= ${first} and day < ${end}`;
  const keys = isFull ? USAGE_KEYS : ['account'];
  const sums = rollupSide('usage_months', `month = '${month}'`, keys);
  const rows = rollupSide(isFull ? 'usage_days' : 'account_days', days, keys);
  return await compareSums(tx, first, sums, rows);
}

async function keepVerified({ db }: Books, month: string, nowMs: number): Promise<void> {
  await db
    .updateTable('closed_months')
    .set({ verified_ms: nowMs })
    .where('month', '=', month)
    .execute();
}
