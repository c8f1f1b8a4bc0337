import { type RawBuilder, sql } from 'kysely';
import { type AccountSlice, findSlice, listSliceConditions } from '../engine/account-slices.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { readSnapshot } from '../engine/read-snapshot.ts';
import { DRIFTS_SHOWN_MAX } from './compare-sums.ts';
import type { SumDrift } from './ledger-report.ts';

/** Each has a row for every day, for years. */
const ACCOUNTS_MAX = 1_000;

interface Excess {
  readonly account: string;
  readonly entries: number;
  readonly charged: number;
  readonly paid: number;
}

interface CheckTotalsOptions {
  readonly books: Books;
  /** Ends the work between two slices of the accounts. */
  readonly signal: AbortSignal;
  readonly accountsMax?: number;
}

/**
 * Compares what accounts have charged and paid since the first entry with its days and months. No
 * statement may take longer than the client waits for its answer, so this is done for some
 * accounts at a time.
 */
export async function checkTotals({
  books,
  signal,
  accountsMax = ACCOUNTS_MAX,
}: CheckTotalsOptions): Promise<SumDrift[]> {
  const ofTotals: Excess[] = [];
  const ofMonths: Excess[] = [];
  let after: string | undefined;
  do {
    signal.throwIfAborted();
    const slice = await findSlice(books, after, accountsMax);
    const found = await readSnapshot(books, (tx) => checkSlice(tx, slice));
    ofTotals.push(...found.ofTotals);
    ofMonths.push(...found.ofMonths);
    after = slice.upTo;
  } while (after !== undefined);
  return [
    ...ofTotals.slice(0, DRIFTS_SHOWN_MAX).flatMap((row) => listExcess('account_totals', row)),
    ...ofMonths.slice(0, DRIFTS_SHOWN_MAX).flatMap((row) => listExcess('key_months', row)),
  ];
}

async function checkSlice(tx: BooksTransaction, slice: AccountSlice) {
  const where = sql`where ${sql.join([sql`1 = 1`, ...listSliceConditions(slice)], sql` and `)}`;
  const ofTotals = await findExcess(
    tx,
    sql`select account, entries, charged, paid from account_totals ${where}
     union all select account, -entries, -charged, 0 from account_days ${where}
     union all select account, 0, 0, -amount from payments ${where}`,
  );
  const ofMonths = await findExcess(
    tx,
    sql`select account, 0 as entries, charged, 0 as paid from key_months ${where}
     union all select account, 0, -charged, 0 from account_days ${where}`,
  );
  return { ofTotals, ofMonths };
}

async function findExcess(
  tx: BooksTransaction,
  select: RawBuilder<unknown>,
): Promise<readonly Excess[]> {
  const { rows } = await sql<Excess>`
    select account, entries, charged, paid from (
      select account, sum(entries) as entries, sum(charged) as charged, sum(paid) as paid
      from (${select}) as all_tables group by account
    ) as excess
    where entries <> 0 or charged <> 0 or paid <> 0 limit ${sql.lit(DRIFTS_SHOWN_MAX)}`.execute(tx);
  return rows;
}

function listExcess(table: string, row: Excess): SumDrift[] {
  return (['entries', 'charged', 'paid'] as const)
    .filter((column) => row[column] !== 0)
    .map((column) => ({ day: null, table, row: row.account, column, excess: row[column] }));
}
