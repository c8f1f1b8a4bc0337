import { useRef } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { ApiProblem } from '../../api/api-problem.ts';
import type { BooksTime, ListedRequest } from '../../api/books-types.ts';
import { untilVisible } from '../../loading/until-visible.ts';
import { useLoad } from '../../loading/use-load.ts';
import { type ListFilter, toQuery } from './list-filter.ts';
import { mergeRequests } from './merge-requests.ts';
import { type NewRows, PAGE_ROWS, PAGES_MAX, readNewRows } from './read-new-rows.ts';

const POLL_MS = 2_000;
const ROWS_MAX = PAGE_ROWS * PAGES_MAX;

interface LiveTail {
  readonly rows: readonly ListedRequest[];
  readonly booksTime: BooksTime | undefined;
  readonly problem: ApiProblem | undefined;
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
      const query = { ...toQuery(filter, Date.now()), limit: PAGE_ROWS };
      const { rows, booksTime } = await readNewRows([...last, ...shown], (before) =>
        api.listRequests({ ...query, before }, signal),
      );
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
