import type { Cluster, Model } from '../../api/api-types.ts';
import { formatCount, formatMs, formatName } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';

type Upstream = Cluster['upstreams'][number];

interface UpstreamViewProps {
  readonly upstream: Upstream;
  readonly models: readonly Model[];
}

export function UpstreamView({ upstream, models }: UpstreamViewProps) {
  const { name, workers, tries } = upstream;
  const routes = models.flatMap(({ id, routes: all }) =>
    all.filter((route) => route.upstream === name).map((route) => ({ ...route, model: id })),
  );
  return (
    <>
      <h2>{name}</h2>
      <Facts facts={listFacts(upstream)} />
      <DataTable
        caption={`Routes to ${name}: the lowest priority that can be called is taken, in it by weight`}
        rows={routes}
        keyOf={({ model }) => model}
        emptyText="No model is asked here"
        columns={[
          { title: 'Model', cell: ({ model }) => <code>{model}</code> },
          { title: 'Priority', cell: ({ priority }) => priority, isNumber: true },
          { title: 'Weight', cell: ({ weight }) => weight, isNumber: true },
        ]}
      />
      <DataTable
        caption={`Workers at ${name}`}
        rows={workers}
        keyOf={({ pid }) => String(pid)}
        emptyText="No worker has reported it yet"
        columns={[
          { title: 'Worker', cell: ({ worker }) => worker, isNumber: true },
          { title: 'Process', cell: ({ pid }) => pid, isNumber: true },
          { title: 'Health', cell: ({ state }) => <Badge state={state} /> },
          { title: 'Rests for', cell: (row) => formatRest(row.rest_ms), isNumber: true },
          { title: 'In flight', cell: (row) => formatCount(row.in_flight), isNumber: true },
          { title: 'At most', cell: (row) => formatCount(row.max_concurrency), isNumber: true },
        ]}
      />
      <DataTable
        caption={`Tries of ${name} since the start of the node`}
        rows={Object.entries(tries).filter(([, count]) => count > 0)}
        keyOf={([result]) => result}
        emptyText="Nothing was asked of it yet"
        columns={[
          { title: 'Result', cell: ([result]) => formatName(result) },
          { title: 'Tries', cell: ([, count]) => formatCount(count), isNumber: true },
        ]}
      />
    </>
  );
}

function listFacts({ kind, url, state, probe, workers }: Upstream): Fact[] {
  const sum = (field: 'in_flight' | 'max_concurrency') =>
    formatCount(workers.reduce((total, worker) => total + worker[field], 0));
  return [
    { name: 'Health, of the worst-off worker', value: <Badge state={state} /> },
    { name: 'In flight', value: `${sum('in_flight')} of ${sum('max_concurrency')}` },
    { name: 'Kind', value: kind },
    ...(url === null ? [] : [{ name: 'Address', value: <code>{url}</code>, isWide: true }]),
    {
      name: 'Probe',
      value: probe ? (
        <>
          <Badge state={probe.state} /> {probe.path}
          {probe.last_result !== null && `: ${probe.last_result}`}
        </>
      ) : (
        'none'
      ),
    },
  ];
}

const formatRest = (ms: number): string => (ms === 0 ? '–' : formatMs(ms));
