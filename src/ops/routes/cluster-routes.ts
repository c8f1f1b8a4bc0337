import type { ClusterState } from '../cluster-state.ts';
import { clusterAnswer } from '../schemas/answer-schemas.ts';
import { showCluster } from '../show-cluster.ts';
import { type AdminRoute, defineAdminRoute } from './admin-route.ts';

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
