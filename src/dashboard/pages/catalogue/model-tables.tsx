import type { SoldDocument } from '../../api/api-types.ts';
import { formatCount, formatCreditAmount } from '../../format.ts';
import { DataTable } from '../../parts/tables/data-table.tsx';

type SoldModel = SoldDocument['models'][number];

const PRICES = [
  { title: 'Input', kind: 'input' },
  { title: 'Output', kind: 'output' },
  { title: 'Cache read', kind: 'cache_read' },
  { title: 'Cache write, 5 min', kind: 'cache_write_5m' },
  { title: 'Cache write, 1 h', kind: 'cache_write_1h' },
  { title: '1,000 searches', kind: 'web_search' },
] as const;

const COMMON = { keyOf: ({ id }: SoldModel) => id, emptyText: 'No model is sold' };

export function ModelTables({ models }: { readonly models: readonly SoldModel[] }) {
  return (
    <>
      <h2>Models</h2>
      <DataTable
        {...COMMON}
        caption="Models, their windows in tokens, and where they are asked"
        rows={models}
        columns={[
          { title: 'Model', cell: ({ id }) => <code>{id}</code> },
          { title: 'Aliases', cell: ({ aliases }) => aliases.join(', ') || '–' },
          { title: 'Window', cell: (row) => formatCount(row.context_length), isNumber: true },
          { title: 'Beta window', cell: formatBetaWindow, isNumber: true },
          { title: 'Output', cell: formatOutput, isNumber: true },
          { title: 'Routes', cell: ({ routes }) => <RouteList routes={routes} /> },
        ]}
      />
      <h2>Prices</h2>
      <DataTable
        {...COMMON}
        caption="Prices in credits per million tokens"
        rows={models}
        columns={[
          { title: 'Model', cell: ({ id }) => <code>{id}</code> },
          ...PRICES.map(({ title, kind }) => ({
            title,
            cell: ({ price }: SoldModel) => formatPrice(kind, price[kind]),
            isNumber: true,
          })),
        ]}
      />
    </>
  );
}

/** A price of the cache that is not named follows from the price of input. */
function formatPrice(kind: string, credits: number | undefined): string {
  if (credits !== undefined) return formatCreditAmount(credits);
  return kind === 'web_search' ? '–' : 'by input';
}

/** A model without output makes embeddings. */
function formatOutput({ max_output_tokens: tokens }: SoldModel): string {
  return tokens === undefined ? 'embeddings' : formatCount(tokens);
}

function formatBetaWindow({ beta_context_length: length }: SoldModel): string {
  return length === undefined ? '–' : formatCount(length);
}

function RouteList({ routes }: Pick<SoldModel, 'routes'>) {
  if (routes === undefined) return <>all upstreams</>;
  return (
    <ul class="changes">
      {routes.map(({ upstream, weight, priority }) => (
        <li key={upstream}>
          {upstream}, priority {priority}, weight {weight}
        </li>
      ))}
    </ul>
  );
}
