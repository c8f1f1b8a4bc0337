import { creditsOf } from '../../../lib/units/micros.ts';
import { readBooksUntil } from '../books-until.ts';
import { findNames } from '../find-names.ts';
import type { QuestionContext } from '../question.ts';
import { collectUsage } from './collect-usage.ts';
import { type ShownUsage, showSums, showUsage, subjectsOf, type UsageSums } from './show-usage.ts';
import { sumPayments } from './sum-payments.ts';
import { columnsOf, USAGE_FILTERS, type UsageGroup, type UsageQuery } from './usage-query.ts';

/** Rows in an answer that is not streamed. */
const ROWS_MAX = 100_000;

/** Names are those of the admin API. */
export interface UsageReport {
  /** In the order of the columns of the rows. */
  readonly by: readonly UsageGroup[];
  readonly account: string | null;
  readonly key: string | null;
  readonly group: string | null;
  readonly end_user: string | null;
  readonly model: string | null;
  readonly upstream: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly data: readonly ShownUsage[];
  /** Includes the rows that the limit leaves out. */
  readonly total: UsageSums;
  /** What was paid in, less what was taken back; null for less than an account. */
  readonly paid: number | null;
  readonly books_until: string | null;
}

/** An entry counts in the hour and on the UTC day in which it was entered. */
export async function sumUsage(
  context: QuestionContext,
  query: UsageQuery,
  signal: AbortSignal,
): Promise<UsageReport> {
  const { books } = context;
  const booksUntil = await readBooksUntil(context);
  const columns = columnsOf(query.by);
  const { rows, total } = await collectUsage(context, query, ROWS_MAX, signal);
  const nameOf = await findNames(books, subjectsOf(columns, rows));
  const { account, fromMs, toMs } = query;
  const isAboutPayments = USAGE_FILTERS.every(
    (name) => name === 'account' || query[name] === undefined,
  );
  return {
    by: columns.filter((column) => query.by.includes(column)),
    account: account ?? null,
    key: query.key ?? null,
    group: query.group ?? null,
    end_user: query.end_user ?? null,
    model: query.model ?? null,
    upstream: query.upstream ?? null,
    from: showTime(fromMs),
    to: showTime(toMs),
    data: rows.map((row) => showUsage(columns, row, nameOf)),
    total: showSums(total),
    paid: isAboutPayments ? creditsOf(await sumPayments(books, query)) : null,
    books_until: booksUntil,
  };
}

function showTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
