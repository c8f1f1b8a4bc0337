import type { FullNode } from '../../api/api-types.ts';
import { formatAge, formatCount, formatMs } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';

type Upstream = FullNode['upstreams'][number];

/** Shows one node in full: its settings, upstreams, Redis and workers. */
export function NodeReport({ detail }: { readonly detail: FullNode }) {
  const { redis, workers, upstreams } = detail;
  return (
    <>
      <h2>State</h2>
      <Facts facts={listFacts(detail)} />
      <h2>Upstreams</h2>
      <DataTable
        caption="Upstreams as the worst-off worker sees them"
        rows={upstreams}
        keyOf={({ name }) => name}
        emptyText="No upstream is configured"
        columns={[
          { title: 'Upstream', cell: ({ name }) => name },
          { title: 'Kind', cell: ({ kind }) => kind },
          { title: 'Breaker', cell: ({ state }) => <Badge state={state} /> },
          { title: 'In flight', cell: (row) => formatCount(countInFlight(row)), isNumber: true },
          { title: 'Tries', cell: (row) => formatCount(countTries(row)), isNumber: true },
        ]}
      />
      <h2>Redis</h2>
      <Facts
        facts={[
          { name: 'State, as the worst-off worker sees it', value: <Badge state={redis.state} /> },
          { name: 'Out for', value: redis.out_for_ms > 0 ? formatMs(redis.out_for_ms) : '–' },
          { name: 'Topology', value: redis.topology },
          { name: 'Server', value: redis.embedded ? "the node's own" : 'shared by all nodes' },
        ]}
      />
      <h2>Workers</h2>
      <DataTable
        caption="Workers of this node"
        rows={workers}
        keyOf={({ pid }) => String(pid)}
        emptyText="No worker runs"
        columns={[
          { title: 'Worker', cell: ({ worker }) => worker, isNumber: true },
          { title: 'Process', cell: ({ pid }) => pid, isNumber: true },
          { title: 'State', cell: ({ state }) => <Badge state={state} /> },
          { title: 'Started', cell: (row) => <Moment iso={row.started_at} /> },
        ]}
      />
    </>
  );
}

function listFacts({ id, state, node, heard_at: heardAt }: FullNode): Fact[] {
  return [
    { name: 'Node', value: <code>{id}</code>, isWide: true },
    { name: 'State', value: <Badge state={state} /> },
    { name: 'Heard last', value: <Moment iso={heardAt} /> },
    { name: 'Version', value: node.version },
    { name: 'Started', value: <Moment iso={node.started_at} /> },
    ...(state === 'gone' ? [] : [{ name: 'Up', value: formatAge(node.started_at, Date.now()) }]),
    { name: 'Version of the settings', value: <code>{node.config.version}</code> },
    { name: 'Settings file', value: node.config.path ?? 'none: all is by default', isWide: true },
  ];
}

function countInFlight({ workers }: Upstream): number {
  return workers.reduce((sum, { in_flight: inFlight }) => sum + inFlight, 0);
}

function countTries({ tries }: Upstream): number {
  return Object.values(tries).reduce((sum, count) => sum + count, 0);
}
