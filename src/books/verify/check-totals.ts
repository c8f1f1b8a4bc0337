import { sql } from 'kysely';
import type { BooksTransaction } from '../engine/books.ts';
import { DRIFTS_SHOWN_MAX } from './compare-sums.ts';
import type { SumDrift } from './ledger-report.ts';

interface Excess {
  readonly account: string;
  readonly entries: number;
  readonly charged: number;
  readonly paid: number;
}

/** Compares what accounts have charged and paid since the first entry with its days and months. */
export async function checkTotals(tx: BooksTransaction): Promise<SumDrift[]> {
  const ofTotals = await findExcess(
    tx,
    `select account, entries, charged, paid from account_totals
     union all select account, -entries, -charged, 0 from account_days
     union all select account, 0, 0, -amount from payments`,
  );
  const ofMonths = await findExcess(
    tx,
    `select account, 0 as entries, charged, 0 as paid from key_months
     union all select account, 0, -charged, 0 from account_days`,
  );
  return [
    ...ofTotals.flatMap((row) => listExcess('account_totals', row)),
    ...ofMonths.flatMap((row) => listExcess('key_months', row)),
  ];
}

async function findExcess(tx: BooksTransaction, select: string): Promise<readonly Excess[]> {
  const { rows } = await sql<Excess>`
    select account, entries, charged, paid from (
      select account, sum(entries) as entries, sum(charged) as charged, sum(paid) as paid
      from (${sql.raw(select)}) as all_tables group by account
    ) as excess
    where entries <> 0 or charged <> 0 or paid <> 0 limit ${sql.lit(DRIFTS_SHOWN_MAX)}`.execute(tx);
  return rows;
}

function listExcess(table: string, row: Excess): SumDrift[] {
  return (['entries', 'charged', 'paid'] as const)
    .filter((column) => row[column] !== 0)
    .map((column) => ({ day: null, table, row: row.account, column, excess: row[column] }));
}
