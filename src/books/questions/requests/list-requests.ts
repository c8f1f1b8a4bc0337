import type { Books } from '../../engine/books.ts';
import { dayOfMs, msOfDay } from '../../engine/days.ts';
import { listDays } from '../../engine/migrate-books.ts';
import { readBooksUntil } from '../books-until.ts';
import { findNames } from '../find-names.ts';
import { decodePageCursor, encodePageCursor, type Place } from '../page-cursor.ts';
import type { QuestionContext } from '../question.ts';
import { yieldTurn } from '../yield-turn.ts';
import type { RequestFilter } from './request-filter.ts';
import { type RequestRow, scanDay } from './scan-day.ts';
import { type ListedRequest, showRequest } from './show-request.ts';

/** For one page. */
const LOOKED_MAX = 50_000;
const DAYS_MAX = 500;
/** Most pages are full soon, so the first windows are small. */
const WINDOW_ROWS_MIN = 500;
const WINDOW_ROWS_MAX = 8_000;
const WINDOW_GROWTH = 4;

export interface RequestsQuery extends RequestFilter {
  readonly limit: number;
  /** The `next` of the page before. */
  readonly before?: string | undefined;
}

export interface RequestsPage {
  /** The newest first. */
  readonly data: readonly ListedRequest[];
  readonly next: string | null;
  readonly books_until: string | null;
}

/**
 * Lists entries of requests. A request with several entries, such as one that expired and was
 * settled late, or whose charge is an orphan, is a row for each of them, with its own `kind`. A
 * page looks at so many rows at most that it may be shorter than `limit`, or empty, and have a
 * `next`.
 */
export async function listRequests(
  context: QuestionContext,
  query: RequestsQuery,
  signal: AbortSignal,
): Promise<RequestsPage> {
  const { books } = context;
  const { limit, before, ...asked } = query;
  const start = before === undefined ? undefined : decodePageCursor('r', before);
  // Before the entries: what comes in meanwhile is not promised.
  const booksUntil = await readBooksUntil(context);
  const filter = await nameAccountOfKey(books, asked);
  const { rows, reached } = await findRows(books, { filter, limit, start }, signal);
  const nameOf = await findNames(books, rows);
  return {
    data: rows.map((row) => showRequest(row, nameOf)),
    next: reached === undefined ? null : encodePageCursor('r', reached),
    books_until: booksUntil,
  };
}

/** Entries are found by their account. */
async function nameAccountOfKey(
  { db }: Pick<Books, 'db'>,
  filter: RequestFilter,
): Promise<RequestFilter> {
  if (filter.key === undefined || filter.account !== undefined) return filter;
  const found = await db
    .selectFrom('key_names')
    .select('account')
    .where('key', '=', filter.key)
    .executeTakeFirst();
  return found === undefined ? filter : { ...filter, account: found.account };
}

interface Page {
  readonly filter: RequestFilter;
  readonly limit: number;
  readonly start: Place | undefined;
}

async function findRows(books: Books, { filter, limit, start }: Page, signal: AbortSignal) {
  const days = await listDaysOf(books, filter, start);
  // One more tells whether there is another page.
  const wanted = limit + 1;
  const rows: RequestRow[] = [];
  let before = start;
  let looked = 0;
  let windowRows = WINDOW_ROWS_MIN;
  for (const [index, day] of days.entries()) {
    for (let isDone = false; !isDone; ) {
      if (looked >= LOOKED_MAX || index >= DAYS_MAX) return { rows, reached: before };
      await yieldTurn(signal);
      const rowsMax = wanted - rows.length;
      const scanned = await scanDay({ db: books.db, day, filter, before, rowsMax, windowRows });
      if (scanned.reached !== undefined) {
        windowRows = Math.min(WINDOW_ROWS_MAX, windowRows * WINDOW_GROWTH);
      }
      rows.push(...scanned.rows);
      looked += scanned.looked;
      if (rows.length >= wanted) return { rows: rows.slice(0, limit), reached: rows[limit - 1] };
      before = scanned.reached ?? { ms: msOfDay(day), bucket: 0, seq: 0 };
      isDone = scanned.reached === undefined;
    }
  }
  return { rows, reached: undefined };
}

/** The newest first. */
async function listDaysOf(
  books: Books,
  { fromMs, toMs }: RequestFilter,
  start: Place | undefined,
): Promise<number[]> {
  const first = fromMs === undefined ? Number.NEGATIVE_INFINITY : dayOfMs(fromMs);
  const last = Math.min(
    toMs === undefined ? Number.POSITIVE_INFINITY : dayOfMs(toMs - 1),
    start === undefined ? Number.POSITIVE_INFINITY : dayOfMs(start.ms),
  );
  return (await listDays(books)).filter((day) => day >= first && day <= last);
}
