import type { QuestionContext } from '../question.ts';
import { ROWS_HELD_MAX } from '../row-budget.ts';
import { addSums, readUsage, refuseRows, type UsageRow } from './read-usage.ts';
import { chargedOf, NO_SUMS } from './show-usage.ts';
import type { UsageQuery } from './usage-query.ts';

interface CollectedUsage {
  readonly rows: readonly UsageRow[];
  /** Includes the rows that the limit leaves out. */
  readonly total: readonly number[];
}

/** Reads all rows, and puts them in the order that is asked for. */
export async function collectUsage(
  context: Pick<QuestionContext, 'books' | 'share'>,
  { order, limit, ...query }: UsageQuery,
  rowsMax: number,
  signal: AbortSignal,
): Promise<CollectedUsage> {
  const total = [...NO_SUMS];
  // To find the largest among them, all of them have to be there.
  const held = { ...query, rowsMax: limit === undefined ? rowsMax : ROWS_HELD_MAX };
  let rows: UsageRow[] = [];
  for await (const some of readUsage(context, held, signal)) {
    for (const row of some) {
      addSums(total, row.sums);
      rows.push(row);
    }
    if (limit !== undefined && rows.length > limit) {
      if (order === 'charged') rows.sort(compareCharged);
      context.share.drop(rows.length - limit);
      rows = rows.slice(0, limit);
    }
    if (rows.length > rowsMax) throw refuseRows(rowsMax);
  }
  if (order === 'charged') rows.sort(compareCharged);
  return { rows, total };
}

/** The sort is stable, so equal ones stay in the order of their names. */
function compareCharged(first: UsageRow, second: UsageRow): number {
  return chargedOf(second.sums) - chargedOf(first.sums);
}
