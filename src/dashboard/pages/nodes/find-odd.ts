import type { Cluster, ListedNode } from '../../api/api-types.ts';

type Difference = keyof Cluster['versions_differ'];
type Versions = Pick<Cluster, 'answered_by' | 'nodes' | 'versions_differ'>;

const VALUES: Readonly<Record<Difference, (member: ListedNode) => string>> = {
  config: ({ config }) => config.hash,
  catalogue: ({ catalogue_version: version }) => String(version),
  version: ({ version }) => version,
};

/**
 * The ids of the nodes that run and have another version than most. If no version has most nodes,
 * that of the node that answers counts as the usual one.
 */
export function findOdd(cluster: Versions, what: Difference): ReadonlySet<string> {
  const { nodes, answered_by: here } = cluster;
  if (!cluster.versions_differ[what]) return new Set();
  const running = nodes.filter(({ state }) => state !== 'gone');
  const counts = new Map<string, number>();
  for (const member of running) {
    // Half an extra vote decides if versions have equally many nodes.
    const vote = member.id === here ? 1.5 : 1;
    const value = VALUES[what](member);
    counts.set(value, (counts.get(value) ?? 0) + vote);
  }
  const [usual] = [...counts].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  return new Set(running.filter((member) => VALUES[what](member) !== usual).map(({ id }) => id));
}
