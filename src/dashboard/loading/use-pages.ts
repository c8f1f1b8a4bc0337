import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, toProblem } from '../api/api-problem.ts';

interface PageOf<Row> {
  readonly data: readonly Row[];
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null;
}

export interface LongList<Row> {
  readonly rows: readonly Row[];
  readonly problem: ApiProblem | undefined;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  loadMore(): void;
  /** Starts again at the first page. */
  reload(): void;
}

interface State<Row> {
  readonly of: string;
  readonly rows: readonly Row[];
  readonly next: string | null | undefined;
  readonly problem?: ApiProblem | undefined;
  readonly isLoading: boolean;
}

/** A long list, page by page. `of` names what is listed: if it changes, the list starts again. */
export function usePages<Row>(
  readPage: (after: string | undefined, signal: AbortSignal) => Promise<PageOf<Row>>,
  of = '',
): LongList<Row> {
  const [state, setState] = useState<State<Row>>({ of, ...EMPTY });
  const leaving = useRef<AbortController | undefined>(undefined);

  const read = (rows: readonly Row[], after: string | undefined) => {
    leaving.current?.abort();
    const now = new AbortController();
    leaving.current = now;
    setState({ of, rows, next: after, isLoading: true });
    readPage(after, now.signal).then(
      ({ data, next }) => {
        if (!now.signal.aborted) setState({ of, rows: [...rows, ...data], next, isLoading: false });
      },
      (cause: unknown) => {
        if (now.signal.aborted) return;
        setState({ of, rows, next: after, problem: toProblem(cause), isLoading: false });
      },
    );
  };

  // `read` is a new function each time, so `of` says what it reads.
  useEffect(() => {
    read([], undefined);
    return () => leaving.current?.abort();
  }, [of]);

  // The old rows must never appear under the new name, not even for a moment.
  const { rows, next, problem, isLoading } = state.of === of ? state : EMPTY;
  return {
    ...{ rows, problem, isLoading },
    hasMore: typeof next === 'string',
    loadMore: () => read(rows, next ?? undefined),
    reload: () => read([], undefined),
  };
}

const EMPTY = { rows: [], next: undefined, problem: undefined, isLoading: true };
