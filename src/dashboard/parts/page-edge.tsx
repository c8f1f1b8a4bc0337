import { useEffect, useRef } from 'preact/hooks';
import type { LongList } from '../loading/use-pages.ts';
import { Problem } from './problem.tsx';

/** The list reads on this far before its end comes into view. */
const MARGIN = '400px';

interface PageEdgeProps {
  readonly pages: Pick<
    LongList<unknown>,
    'rows' | 'problem' | 'isLoading' | 'hasMore' | 'loadMore' | 'reload'
  >;
  /** Beyond it the reader has to ask for more. */
  readonly rowsMax: number;
}

/** The end of a list that reads its next page when its end comes into view. */
export function PageEdge({ pages, rowsMax }: PageEdgeProps) {
  const { rows, problem, isLoading, hasMore, loadMore, reload } = pages;
  const edge = useRef<HTMLDivElement>(null);
  /** How long the list was when it last read on by itself. */
  const readAt = useRef(0);
  if (rows.length === 0) readAt.current = 0;
  const canLoad = hasMore && !isLoading && problem === undefined;
  const isEndless = canLoad && rows.length > 0 && rows.length < rowsMax;
  useEffect(() => {
    // A page without rows ends it, or it might search all of the past for the next row.
    if (edge.current === null || !isEndless || readAt.current === rows.length) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        readAt.current = rows.length;
        loadMore();
      },
      { rootMargin: MARGIN },
    );
    observer.observe(edge.current);
    return () => observer.disconnect();
  }, [isEndless, rows.length]);
  return (
    <div ref={edge} class="page-edge">
      <Problem problem={problem} onRetry={rows.length === 0 ? reload : loadMore} />
      {isLoading && <p class="quiet">Loading…</p>}
      {canLoad && (
        <button type="button" onClick={loadMore}>
          {rows.length === 0 ? 'Look further back' : 'Load more'}
        </button>
      )}
    </div>
  );
}
