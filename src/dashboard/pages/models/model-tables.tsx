import type { Model } from '../../api/api-types.ts';
import { formatCount, formatCreditAmount } from '../../format.ts';
import { DataTable } from '../../parts/tables/data-table.tsx';

const PRICES = [
  { title: 'Input', kind: 'input' },
  { title: 'Output', kind: 'output' },
  { title: 'Cache read', kind: 'cache_read' },
  { title: 'Cache write, 5 min', kind: 'cache_write_5m' },
  { title: 'Cache write, 1 h', kind: 'cache_write_1h' },
  { title: '1,000 searches', kind: 'web_search' },
] as const;

const COMMON = { keyOf: ({ id }: Model) => id, emptyText: 'No model is configured' };

/** Shows the models of the current settings, which can be changed only in the settings file. */
export function ModelTables({ models }: { readonly models: readonly Model[] }) {
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
          { title: 'Output', cell: (row) => formatCount(row.max_output_tokens), isNumber: true },
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
            cell: ({ price }: Model) => formatPrice(price[kind]),
            isNumber: true,
          })),
        ]}
      />
    </>
  );
}

function formatPrice(credits: number | null): string {
  return credits === null ? '–' : formatCreditAmount(credits);
}

function formatBetaWindow({ beta_context_length: length }: Model): string {
  return length === null ? '–' : formatCount(length);
}

function RouteList({ routes }: Pick<Model, 'routes'>) {
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
