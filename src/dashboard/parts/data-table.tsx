import type { ComponentChildren } from 'preact';
import type { LongList } from '../use-pages.ts';
import { EmptyState } from './empty-state.tsx';
import { Problem } from './problem.tsx';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Aligned to the right, so that digits line up. */
  readonly isNumber?: boolean;
  /** May wrap. Other values, such as ids, stay on one line. */
  readonly isProse?: boolean;
}

interface DataTableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown instead of a table without rows. */
  readonly emptyText: string;
}

/** On a narrow screen the table scrolls inside its own frame, also with the keyboard. */
export function DataTable<Row>({ caption, columns, rows, keyOf, emptyText }: DataTableProps<Row>) {
  if (rows.length === 0) return <EmptyState title={emptyText} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to take the focus
    <section class="table-frame" tabIndex={0} aria-label={caption}>
      <table>
        <caption>
          <span>{caption}</span>
        </caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

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

function classOf<Row>({ isNumber, isProse }: Column<Row>): string | undefined {
  if (isProse === true) return 'prose';
  return isNumber === true ? 'number' : undefined;
}
