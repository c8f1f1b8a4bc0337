import type { ComponentChildren } from 'preact';
import { EmptyState } from '../empty-state.tsx';
import { useCards } from './use-cards.ts';

export interface TableColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Aligned to the right, so that digits line up. */
  readonly isNumber?: boolean;
  /** May wrap. Other values, such as ids, stay on one line. */
  readonly isProse?: boolean;
}

export interface DataTableProps<Row> {
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown instead of a table without rows. */
  readonly emptyText: string;
  /** Hides the caption from those who see the heading above it. */
  readonly isTitled?: boolean;
  readonly classOfRow?: (row: Row) => string;
}

export function DataTable<Row>({ emptyText, ...table }: DataTableProps<Row>) {
  return table.rows.length === 0 ? <EmptyState title={emptyText} /> : <FullTable {...table} />;
}

/** Where there is no room for a table, each row becomes a card. */
function FullTable<Row>(props: Omit<DataTableProps<Row>, 'emptyText'>) {
  const { caption, columns, rows, keyOf, classOfRow, isTitled = false } = props;
  const { frame, isCards } = useCards();
  const classes = ['table-frame', isCards && 'cards', isTitled && 'titled'].filter(Boolean);
  return (
    <section ref={frame} class={classes.join(' ')} aria-label={caption}>
      <table>
        <caption>{caption}</caption>
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
            <tr key={keyOf(row)} class={classOfRow?.(row)}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)} data-title={column.title}>
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

function classOf<Row>({ isNumber, isProse }: TableColumn<Row>): string | undefined {
  if (isProse === true) return 'prose';
  return isNumber === true ? 'number' : undefined;
}
