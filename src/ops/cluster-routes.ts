import { type AdminRoute, defineAdminRoute } from './admin-route.ts';
import { clusterAnswer } from './answer-schemas.ts';
import type { ClusterState } from './cluster-state.ts';
import { showCluster } from './show-cluster.ts';

export function createClusterRoutes({
  readCluster,
}: {
  readonly readCluster: () => ClusterState;
}): readonly AdminRoute[] {
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/cluster',
      summary: 'This node as it is: its workers, upstreams and Redis',
      answer: clusterAnswer,
      handle: async () => ({ status: 200, body: showCluster(readCluster()) }),
    }),
  ];
}
