import type { BooksTime, ListedRequest, RequestList } from '../../api/books-types.ts';
import { keyOfRow } from './merge-requests.ts';

/**
 * How much older than the newest known row a new one may be: refusals are written two seconds late,
 * with the time of the request, and those of a new key up to a minute late.
 */
const LATE_MAX_MS = 5_000;
export const PAGE_ROWS = 50;
/** If more rows than on these pages came at once, older rows make room for them. */
export const PAGES_MAX = 4;

export interface NewRows {
  readonly rows: readonly ListedRequest[];
  readonly booksTime: BooksTime | undefined;
}

/**
 * Reads pages, the newest first, until one reaches so far behind the newest known row that
 * everything older is known, too.
 */
export async function readNewRows(
  known: readonly ListedRequest[],
  readPage: (before: string | undefined) => Promise<RequestList>,
): Promise<NewRows> {
  const keys = new Set(known.map(keyOfRow));
  const times = known.map(({ time }) => Date.parse(time));
  const newestMs = Math.max(...times);
  // Behind the end of a long list there are older rows, which are not new.
  const oldestMs = known.length < PAGE_ROWS ? Number.NEGATIVE_INFINITY : Math.min(...times);
  const isNew = (row: ListedRequest) =>
    !keys.has(keyOfRow(row)) && Date.parse(row.time) >= oldestMs;
  const rows: ListedRequest[] = [];
  let before: string | undefined;
  let booksTime: BooksTime | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await readPage(before);
    booksTime = page.booksTime;
    rows.push(...page.data.filter(isNew));
    const { next, looked_back_to: reached } = page;
    if (next === null || reached === null) break;
    if (Date.parse(reached) < newestMs - LATE_MAX_MS) break;
    before = next;
  }
  return { rows, booksTime };
}
