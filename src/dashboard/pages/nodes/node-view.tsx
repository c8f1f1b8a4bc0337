import type { Cluster } from '../../api/api-types.ts';
import { formatAge, formatMs } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';

/** Shows only the node that serves this page; each node serves a page of its own. */
export function NodeView({ cluster }: { readonly cluster: Cluster }) {
  const { node, redis, workers } = cluster;
  return (
    <>
      <h2>This node</h2>
      <Facts
        facts={[
          { name: 'Node', value: <code>{node.id}</code>, isWide: true },
          { name: 'Version', value: node.version },
          { name: 'Started', value: <Moment iso={node.started_at} /> },
          { name: 'Up', value: formatAge(node.started_at, Date.now()) },
          { name: 'Version of the settings', value: <code>{node.config.version}</code> },
          {
            name: 'Settings file',
            value: node.config.path ?? 'none: all is by default',
            isWide: true,
          },
        ]}
      />
      <h2>Redis</h2>
      <Facts
        facts={[
          { name: 'State, as the worst-off worker sees it', value: <Badge state={redis.state} /> },
          { name: 'Out for', value: redis.out_for_ms > 0 ? formatMs(redis.out_for_ms) : '–' },
          { name: 'Topology', value: redis.topology },
          { name: 'Runs', value: redis.embedded ? 'as a part of this node' : 'elsewhere' },
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
