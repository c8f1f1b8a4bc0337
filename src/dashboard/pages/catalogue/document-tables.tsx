import type { SoldDocument } from '../../api/api-types.ts';
import { formatCount } from '../../format.ts';
import { showLimitTexts } from '../../limit-texts.ts';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { ModelTables } from './model-tables.tsx';

type Plan = SoldDocument['plans'][string];

function countOf(plan: Plan): string {
  return formatCount(typeof plan === 'number' ? plan : plan.requests);
}

function listOf(plan: Plan): string {
  return typeof plan === 'number' ? '' : showLimitTexts(plan.limits);
}

/** Shows all that a document sells. */
export function DocumentTables({ document }: { readonly document: SoldDocument }) {
  return (
    <>
      <ModelTables models={document.models} />
      <h2>Plans</h2>
      <DataTable
        caption="Requests of an account in a rate window, and further limits, by its plan"
        rows={Object.entries(document.plans)}
        keyOf={([plan]) => plan}
        emptyText="There is no plan"
        columns={[
          { title: 'Plan', cell: ([plan]) => plan },
          { title: 'Requests in a rate window', cell: ([, plan]) => countOf(plan), isNumber: true },
          { title: 'Further limits', cell: ([, plan]) => listOf(plan) },
        ]}
      />
    </>
  );
}
