import type { Books, BooksTransaction } from '../engine/books.ts';
import { monthOfDay } from '../engine/months.ts';
import { type BooksTables, SUM_COLUMNS } from '../engine/tables.ts';
import type { RollupChanges } from './add-up.ts';
import type { BulkTable } from './columns.ts';
import { insertRows } from './insert-rows.ts';

/** Adds the changes to what the rollups have. This opens the months that they change. */
export async function writeRollups(
  engine: Books['engine'],
  tx: BooksTransaction,
  changes: RollupChanges,
): Promise<void> {
  const add = async <Table extends BulkTable>(
    columns: Table,
    identity: readonly (keyof BooksTables[Table] & string)[],
    sums: readonly string[],
    rows: readonly BooksTables[Table][],
  ) => {
    const key = identity.map((name) => `"${name}"`).join(',');
    const set = sums.map((name) => `"${name}" = "${columns}"."${name}" + excluded."${name}"`);
    const onConflict = `(${key}) do update set ${set.join(', ')}`;
    await insertRows(engine, tx, { columns, rows, onConflict, identity });
  };
  const usage = ['account', 'key', 'model', 'upstream', 'group'] as const;
  await openMonths(tx, changes);
  await add('usage_hours', ['hour', ...usage], SUM_COLUMNS, changes.usageHours);
  await add('usage_days', ['day', ...usage], SUM_COLUMNS, changes.usageDays);
  await add('account_days', ['day', 'account'], SUM_COLUMNS, changes.accountDays);
  await add('fleet_hours', ['hour', 'model', 'upstream'], SUM_COLUMNS, changes.fleetHours);
  await add('account_totals', ['account'], ['entries', 'charged', 'paid'], changes.accountTotals);
  await add('key_months', ['account', 'key', 'month'], ['charged'], changes.keyMonths);
}

async function openMonths(tx: BooksTransaction, { usageDays }: RollupChanges): Promise<void> {
  const months = new Set(usageDays.map(({ day }) => monthOfDay(day)));
  if (months.size === 0) return;
  await tx
    .deleteFrom('closed_months')
    .where('month', 'in', [...months])
    .execute();
}
