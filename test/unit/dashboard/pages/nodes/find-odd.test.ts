import { expect, it } from 'vitest';
import type { Cluster, ListedNode } from '../../../../../src/dashboard/api/api-types.ts';
import { findOdd } from '../../../../../src/dashboard/pages/nodes/find-odd.ts';

type Known = Pick<Cluster, 'answered_by' | 'nodes' | 'versions_differ'>;

const member = (id: string, version: string, state: ListedNode['state'] = 'up') =>
  ({ id, version, state }) as ListedNode;
const clusterOf = (answeredBy: string, ...nodes: ListedNode[]): Known => ({
  answered_by: answeredBy,
  nodes,
  versions_differ: { config: false, catalogue: false, version: true },
});

it('the nodes that differ are those that have another version than most that run', () => {
  const [one, two, old] = [member('one', '2'), member('two', '2'), member('old', '1')];
  const gone = [member('a', '1', 'gone'), member('b', '1', 'gone')];
  expect([...findOdd(clusterOf('old', one, two, old, ...gone), 'version')]).toEqual(['old']);
  expect([...findOdd(clusterOf('one', one, two, old), 'config')]).toEqual([]);
});

it('with as many of each version, those differ that are not like the node that answers', () => {
  const [one, old] = [member('one', '2'), member('old', '1')];
  expect([...findOdd(clusterOf('one', one, old), 'version')]).toEqual(['old']);
  expect([...findOdd(clusterOf('old', one, old), 'version')]).toEqual(['one']);
});
