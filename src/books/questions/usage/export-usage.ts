import { encodeCsvLine } from '../encode-csv-line.ts';
import { findNames } from '../find-names.ts';
import type { QuestionContext } from '../question.ts';
import { ROWS_HELD_MAX } from '../row-budget.ts';
import { yieldTurn } from '../yield-turn.ts';
import { collectUsage } from './collect-usage.ts';
import { headUsageCsv, listUsageValues } from './list-usage-values.ts';
import { readUsage, type UsageRow } from './read-usage.ts';
import { showUsage, subjectsOf } from './show-usage.ts';
import { columnsOf, type UsageQuery } from './usage-query.ts';

const ROWS_AT_ONCE = 100;

/** The rows of `sumUsage` as CSV, as many as there are; not the total. */
export async function* exportUsage(
  context: QuestionContext,
  query: UsageQuery,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const columns = columnsOf(query.by);
  let head = `${encodeCsvLine(headUsageCsv(columns))}\n`;
  for await (const rows of readRows(context, query, signal)) {
    for (let first = 0; first < rows.length; first += ROWS_AT_ONCE) {
      const some = rows.slice(first, first + ROWS_AT_ONCE);
      const nameOf = await findNames(context.books, subjectsOf(columns, some));
      const lines = some.map((row) => {
        const shown = showUsage(columns, row, nameOf);
        return `${encodeCsvLine(listUsageValues(columns, shown))}\n`;
      });
      await yieldTurn(signal);
      yield head + lines.join('');
      head = '';
    }
    context.share.drop(rows.length);
  }
  yield head;
}

async function* readRows(
  context: QuestionContext,
  query: UsageQuery,
  signal: AbortSignal,
): AsyncGenerator<readonly UsageRow[]> {
  if (query.order === undefined && query.limit === undefined) {
    yield* readUsage(context, { ...query, rowsMax: ROWS_HELD_MAX }, signal);
    return;
  }
  yield (await collectUsage(context, query, ROWS_HELD_MAX, signal)).rows;
}
