import type { LongList } from '../../loading/use-pages.ts';
import { Problem } from '../problem.tsx';
import { DataTable, type DataTableProps } from './data-table.tsx';

interface PagedTableProps<Row> extends Omit<DataTableProps<Row>, 'rows'> {
  readonly pages: LongList<Row>;
}

/** A table that grows by a page whenever the reader asks for more. */
export function PagedTable<Row>({ pages, ...table }: PagedTableProps<Row>) {
  const { rows, problem, isLoading, hasMore, loadMore, reload } = pages;
  const isFirst = rows.length === 0;
  return (
    <>
      {(!isFirst || (!isLoading && problem === undefined)) && <DataTable {...table} rows={rows} />}
      <Problem problem={problem} onRetry={isFirst ? reload : loadMore} />
      {isLoading && <p class="quiet">Loading…</p>}
      {hasMore && !isLoading && problem === undefined && (
        <button type="button" onClick={loadMore}>
          Load more
        </button>
      )}
    </>
  );
}
