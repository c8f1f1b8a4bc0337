import type { SoldDocument } from '../../api/api-types.ts';
import { formatCount } from '../../format.ts';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { ModelTables } from './model-tables.tsx';

/** Shows all that a document sells. */
export function DocumentTables({ document }: { readonly document: SoldDocument }) {
  return (
    <>
      <ModelTables models={document.models} />
      <h2>Plans</h2>
      <DataTable
        caption="Requests a minute of an account, by its plan"
        rows={Object.entries(document.plans)}
        keyOf={([plan]) => plan}
        emptyText="There is no plan"
        columns={[
          { title: 'Plan', cell: ([plan]) => plan },
          { title: 'Requests a minute', cell: ([, count]) => formatCount(count), isNumber: true },
        ]}
      />
    </>
  );
}
