import type { Cluster } from '../../api/api-types.ts';
import { formatAge, formatCount, formatMs } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';

type Upstream = Cluster['upstreams'][number];

/** Shows whether everything that a request needs is there: Redis, upstreams and workers. */
export function ClusterHealth({ cluster }: { readonly cluster: Cluster }) {
  const { node, redis, upstreams, workers } = cluster;
  return (
    <>
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
      <p>
        <Badge state={redis.state} /> {redis.embedded ? 'embedded' : redis.topology}
        {redis.out_for_ms > 0 && `, out for ${formatMs(redis.out_for_ms)}`}
      </p>
      <h2>Node and workers</h2>
      <p>
        Node <code>{node.id}</code>, version {node.version}, started{' '}
        <Moment iso={node.started_at} />, settings <code>{node.config.version}</code>
      </p>
      <DataTable
        caption="Workers of this node"
        rows={workers}
        keyOf={({ pid }) => String(pid)}
        emptyText="No worker runs"
        columns={[
          { title: 'Worker', cell: ({ worker }) => worker, isNumber: true },
          { title: 'Process', cell: ({ pid }) => pid, isNumber: true },
          { title: 'State', cell: ({ state }) => <Badge state={state} /> },
          { title: 'Up', cell: (row) => formatAge(row.started_at, Date.now()), isNumber: true },
        ]}
      />
    </>
  );
}

function countInFlight({ workers }: Upstream): number {
  return workers.reduce((sum, { in_flight: inFlight }) => sum + inFlight, 0);
}

function countTries({ tries }: Upstream): number {
  return Object.values(tries).reduce((sum, count) => sum + count, 0);
}
