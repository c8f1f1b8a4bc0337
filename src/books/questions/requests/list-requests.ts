import type { Books } from '../../engine/books.ts';
import { dayOfMs } from '../../engine/days.ts';
import { listDays } from '../../engine/migrate-books.ts';
import { addAccountOfKey } from '../add-account-of-key.ts';
import { readBooksUntil } from '../books-until.ts';
import { findNames } from '../find-names.ts';
import { decodePageCursor, encodePageCursor, type Place } from '../page-cursor.ts';
import type { QuestionContext } from '../question.ts';
import { groupDays } from './group-days.ts';
import { lookThrough } from './look-through.ts';
import type { RequestFilter } from './request-filter.ts';
import type { RequestRow } from './scan-day.ts';
import { type ListedRequest, showRequest } from './show-request.ts';
import { countDays } from './slice-day.ts';

/** How many rows one page looks at, about. */
const LOOKED_MAX = 24_000;
/** A query takes as long as looking at this many rows. */
const QUERY_ROWS = 200;

export interface RequestsQuery extends RequestFilter {
  readonly limit: number;
  /** The `next` of the page before. */
  readonly before?: string | undefined;
}

export interface RequestsPage {
  /** The newest first. */
  readonly data: readonly ListedRequest[];
  readonly next: string | null;
  /** All rows from this time on are on this page or an earlier one; null if all rows are. */
  readonly looked_back_to: string | null;
  readonly books_until: string | null;
}

/**
 * Lists entries of requests. A request with several entries, such as one that expired and was
 * settled late, or whose charge is an orphan, is a row for each of them, with its own `kind`. A
 * page looks at a limited number of rows, so it may be shorter than `limit`, or empty, and still
 * have a `next`.
 */
export async function listRequests(
  context: QuestionContext,
  query: RequestsQuery,
  signal: AbortSignal,
): Promise<RequestsPage> {
  const { books } = context;
  const { limit, before, ...asked } = query;
  const start = before === undefined ? undefined : decodePageCursor('r', before);
  // Read before the entries: what comes in meanwhile is not promised.
  const booksUntil = await readBooksUntil(context);
  const filter = await addAccountOfKey(books, asked);
  const { rows, reached } = await findRows(context, { filter, limit, start }, signal);
  const nameOf = await findNames(books, rows);
  return {
    data: rows.map((row) => showRequest(row, nameOf)),
    next: reached === undefined ? null : encodePageCursor('r', reached),
    looked_back_to: reached === undefined ? null : new Date(reached.ms).toISOString(),
    books_until: booksUntil,
  };
}

interface Page {
  readonly filter: RequestFilter;
  readonly limit: number;
  readonly start: Place | undefined;
}

interface FoundRows {
  readonly rows: readonly RequestRow[];
  /** Where the next page continues; undefined after the last row. */
  readonly reached: Place | undefined;
}

async function findRows(
  { books, share }: QuestionContext,
  { filter, limit, start }: Page,
  signal: AbortSignal,
): Promise<FoundRows> {
  // One more shows whether there is another page.
  const wanted = limit + 1;
  const rows: RequestRow[] = [];
  let before = start;
  let looked = 0;
  const days = await listDaysOf(books, filter, start);
  const rowsOf = await countDays(books, days, filter);
  for (const group of groupDays(days, rowsOf)) {
    const scan = () => ({ db: books.db, filter, before, rowsMax: wanted - rows.length });
    for await (const part of lookThrough(scan, group, signal)) {
      share.add(part.rows.length);
      rows.push(...part.rows);
      if (rows.length >= wanted) return { rows: rows.slice(0, limit), reached: rows[limit - 1] };
      before = { ms: part.fromMs, bucket: 0, seq: 0 };
      looked += part.looked + QUERY_ROWS;
      if (looked >= LOOKED_MAX) return { rows, reached: before };
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
