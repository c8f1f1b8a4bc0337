import { useRef } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { ApiProblem } from '../../api/api-problem.ts';
import type { BooksTime, ListedRequest } from '../../api/books-types.ts';
import { untilVisible } from '../../loading/until-visible.ts';
import { useLoad } from '../../loading/use-load.ts';
import { type ListFilter, toQuery } from './list-filter.ts';
import { keyOfRow, mergeRequests } from './merge-requests.ts';

const POLL_MS = 2_000;
const PAGE_ROWS = 50;
/** If more rows than these came at once, older rows make room for them. */
const PAGES_MAX = 4;
const ROWS_MAX = PAGE_ROWS * PAGES_MAX;

interface LiveTail {
  readonly rows: readonly ListedRequest[];
  readonly booksTime: BooksTime | undefined;
  readonly problem: ApiProblem | undefined;
}

interface NewRows {
  readonly rows: readonly ListedRequest[];
  readonly booksTime: BooksTime | undefined;
}

/** Looks for new rows as long as it is live and the page can be seen. */
export function useLiveTail(
  filter: ListFilter,
  isLive: boolean,
  shown: readonly ListedRequest[],
): LiveTail {
  const kept = useRef<{ of: string; rows: readonly ListedRequest[] }>({ of: '', rows: [] });
  const of = isLive ? JSON.stringify(filter) : '';
  const load = useLoad<NewRows | undefined>(
    async (signal) => {
      if (!isLive) return undefined;
      await untilVisible(signal);
      const last = kept.current.of === of ? kept.current.rows : [];
      const known = new Set([...last, ...shown].map(keyOfRow));
      const { rows, booksTime } = await readNewRows(filter, known, signal);
      kept.current = { of, rows: mergeRequests(rows, last).slice(0, ROWS_MAX) };
      return { rows: kept.current.rows, booksTime };
    },
    { of: [of], ...(isLive && { refreshMs: POLL_MS }) },
  );
  return {
    rows: load.value?.rows ?? [],
    booksTime: load.value?.booksTime,
    problem: load.problem,
  };
}

/** Reads pages, the newest first, until one has a row that is known. */
async function readNewRows(
  filter: ListFilter,
  known: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<NewRows> {
  const query = { ...toQuery(filter, Date.now()), limit: PAGE_ROWS };
  const rows: ListedRequest[] = [];
  let before: string | undefined;
  let booksTime: BooksTime | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await api.listRequests({ ...query, before }, signal);
    booksTime = page.booksTime;
    rows.push(...page.data.filter((row) => !known.has(keyOfRow(row))));
    if (page.next === null || page.data.some((row) => known.has(keyOfRow(row)))) break;
    before = page.next;
  }
  return { rows, booksTime };
}
