import type { Cluster, ListedNode } from '../../api/api-types.ts';
import { formatCount } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { FleetNotices } from '../nodes/fleet-notices.tsx';
import { MemberTable } from '../nodes/member-table.tsx';
import { countStates, type StateCount } from './count-states.ts';

/** Shows whether everything that requests need is there: nodes, upstreams and Redis. */
export function FleetHealth({ cluster }: { readonly cluster: Cluster }) {
  const running = cluster.nodes.filter(({ state }) => state !== 'gone');
  return (
    <>
      <h2>Nodes</h2>
      <FleetNotices cluster={cluster} />
      <MemberTable cluster={cluster} detail="brief" />
      <h2>Upstreams</h2>
      <DataTable
        caption="Upstreams, and how many nodes see each so"
        rows={listUpstreams(running)}
        keyOf={({ name }) => name}
        emptyText="No upstream is configured"
        columns={[
          { title: 'Upstream', cell: ({ name }) => name },
          { title: 'Breaker', cell: ({ states }) => <States states={states} /> },
        ]}
      />
      <h2>Redis</h2>
      <p>
        <States states={countStates(running.map(({ redis }) => redis.state))} />,{' '}
        {cluster.redis.embedded ? "the node's own" : cluster.redis.topology}
      </p>
    </>
  );
}

function States({ states }: { readonly states: readonly StateCount[] }) {
  return (
    <>
      {states.map(({ state, count }, index) => (
        <span key={state}>
          {index > 0 && ', '}
          <Badge state={state} /> on {formatCount(count)} {count === 1 ? 'node' : 'nodes'}
        </span>
      ))}
    </>
  );
}

function listUpstreams(nodes: readonly ListedNode[]) {
  const seen = nodes.flatMap(({ upstreams }) => upstreams);
  return [...new Set(seen.map(({ name }) => name))].map((name) => ({
    name,
    states: countStates(seen.filter((each) => each.name === name).map(({ state }) => state)),
  }));
}
