import type { Books } from '../../engine/books.ts';
import { encodeCsvLine } from '../encode-csv-line.ts';
import { findNames } from '../find-names.ts';
import type { QuestionContext } from '../question.ts';
import { yieldTurn } from '../yield-turn.ts';
import { collectUsage, ROWS_HELD_MAX } from './collect-usage.ts';
import { headUsageCsv, listUsageValues } from './list-usage-values.ts';
import { readUsage, type UsageRow } from './read-usage.ts';
import { showUsage, subjectsOf } from './show-usage.ts';
import { columnsOf, type UsageQuery } from './usage-query.ts';

const ROWS_AT_ONCE = 100;

/** The rows of `sumUsage` as CSV, as many as there are; not the total. */
export async function* exportUsage(
  { books }: QuestionContext,
  query: UsageQuery,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const columns = columnsOf(query.by);
  let head = `${encodeCsvLine(headUsageCsv(columns))}\n`;
  for await (const rows of readRows(books, query, signal)) {
    for (let first = 0; first < rows.length; first += ROWS_AT_ONCE) {
      const some = rows.slice(first, first + ROWS_AT_ONCE);
      const nameOf = await findNames(books, subjectsOf(columns, some));
      const lines = some.map((row) => {
        const shown = showUsage(columns, row, nameOf);
        return `${encodeCsvLine(listUsageValues(columns, shown))}\n`;
      });
      await yieldTurn(signal);
      yield head + lines.join('');
      head = '';
    }
  }
  yield head;
}

async function* readRows(
  books: Books,
  query: UsageQuery,
  signal: AbortSignal,
): AsyncGenerator<readonly UsageRow[]> {
  if (query.order === undefined && query.limit === undefined) {
    yield* readUsage(books, { ...query, rowsMax: ROWS_HELD_MAX }, signal);
    return;
  }
  yield (await collectUsage(books, query, ROWS_HELD_MAX, signal)).rows;
}
