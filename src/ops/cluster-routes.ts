import type { AdminRoute, AdminRouteOptions } from './admin-route.ts';
import { parseInput } from './admin-schemas.ts';
import { showCluster } from './show-cluster.ts';

export function createClusterRoutes(options: AdminRouteOptions): readonly AdminRoute[] {
  const { readCluster, schemas } = options;
  return [
    {
      method: 'GET',
      path: '/admin/v1/cluster',
      async handle({ query }) {
        parseInput(schemas.nothing, query);
        return { status: 200, body: showCluster(readCluster()) };
      },
    },
  ];
}
