import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { ApiProblem } from '../../api/api-problem.ts';
import type { BooksTime, ListedRequest, RequestList } from '../../api/books-types.ts';
import { type LongList, usePages } from '../../loading/use-pages.ts';
import { type ListFilter, toQuery } from './list-filter.ts';
import { keyOfRow, mergeRequests } from './merge-requests.ts';
import { useLiveTail } from './use-live-tail.ts';

const PAGE_ROWS = 50;
/**
 * A page may be empty because the node searches only so far back at once. After this many empty
 * pages the reader has to ask for more.
 */
const EMPTY_PAGES_MAX = 10;
/** This many rows are kept while new ones come in. */
export const LIVE_ROWS_MAX = 200;

interface RequestListView extends LongList<ListedRequest> {
  /** Up to when the books were at the last read; undefined before the first. */
  readonly booksTime: BooksTime | undefined;
  /** Rows that came since the list went live. */
  readonly freshKeys: ReadonlySet<string>;
  /** Why new rows cannot be read. It is tried again. */
  readonly tailProblem: ApiProblem | undefined;
}

/** The requests of a filter, page by page. If it is live, it grows at its beginning instead. */
export function useRequestList(filter: ListFilter, isLive: boolean): RequestListView {
  const of = JSON.stringify(filter);
  const [booksTime, setBooksTime] = useState<BooksTime | undefined>();
  const pages = usePages(async (before, signal) => {
    const page = await readFilledPage(filter, before, signal);
    setBooksTime(page.booksTime);
    return page;
  }, of);
  const tail = useLiveTail(filter, isLive, pages.rows);
  const { reload } = pages;
  const wasLive = useRef(isLive);
  // The newest rows of the tail may have left a gap before the pages.
  useEffect(() => {
    if (wasLive.current && !isLive) reload();
    wasLive.current = isLive;
  }, [isLive]);
  if (!isLive) return { ...pages, booksTime, freshKeys: NO_KEYS, tailProblem: undefined };
  return {
    ...pages,
    rows: mergeRequests(tail.rows, pages.rows).slice(0, LIVE_ROWS_MAX),
    hasMore: false,
    booksTime: tail.booksTime ?? booksTime,
    freshKeys: new Set(tail.rows.map(keyOfRow)),
    tailProblem: tail.problem,
  };
}

const NO_KEYS: ReadonlySet<string> = new Set();

async function readFilledPage(
  filter: ListFilter,
  before: string | undefined,
  signal: AbortSignal,
): Promise<RequestList> {
  const query = { ...toQuery(filter, Date.now()), limit: PAGE_ROWS };
  let page = await api.listRequests({ ...query, before }, signal);
  for (let pages = 1; page.data.length === 0 && page.next !== null; pages += 1) {
    if (pages === EMPTY_PAGES_MAX) return page;
    page = await api.listRequests({ ...query, before: page.next }, signal);
  }
  return page;
}
