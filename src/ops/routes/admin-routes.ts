import type { Directory } from '../../accounts/directory.ts';
import type { LedgerDesk } from '../../ledger/create-ledger-desk.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { ClusterState } from '../cluster-state.ts';
import { OpsProblem } from '../ops-problem.ts';
import { createAdminSchemas } from '../schemas/admin-schemas.ts';
import { createAccountRoutes } from './account-routes.ts';
import type { AdminRoute } from './admin-route.ts';
import { createClusterRoutes } from './cluster-routes.ts';
import { createKeyRoutes, type KeyRoutesOptions } from './key-routes.ts';
import { createLedgerRoutes } from './ledger-routes.ts';
import { createModelRoutes, type ModelRoutesOptions } from './model-routes.ts';
import { createNodeRoutes, type NodeRoutesOptions } from './node-routes.ts';
import { createPlaygroundRoutes, type PlaygroundRoutesOptions } from './playground-routes.ts';

export interface AdminRoutesOptions
  extends Omit<NodeRoutesOptions, 'schemas'>,
    ModelRoutesOptions,
    PlaygroundRoutesOptions {
  readonly directory: Directory;
  readonly rateRules: KeyRoutesOptions['rateRules'];
  readonly readCluster: () => ClusterState;
  readonly ledger: LedgerDesk;
  /**
   * The name that stands for this model in a list of models, by the settings in use. Undefined if
   * there is no such model.
   */
  readonly nameModel: (name: string) => string | undefined;
  readonly clock: Clock;
}

export function createAdminRoutes(options: AdminRoutesOptions): readonly AdminRoute[] {
  const { nameModel, ...rest } = options;
  const parts = { ...rest, schemas: createAdminSchemas({ nameModel, clock: rest.clock }) };
  return [
    ...createAccountRoutes(parts),
    ...createKeyRoutes(parts),
    ...createLedgerRoutes(parts),
    ...createClusterRoutes(parts),
    ...createModelRoutes(parts),
    ...createNodeRoutes(parts),
    ...createPlaygroundRoutes(parts),
  ];
}

/** Throws if nothing is at the path, or if it does not take the method. */
export function findAdminRoute(
  routes: readonly AdminRoute[],
  method: string,
  path: string,
): { readonly route: AdminRoute; readonly id: string } {
  const allowed: string[] = [];
  for (const route of routes) {
    const id = matchPath(route.path, path);
    if (id === undefined) continue;
    if (route.method === method) return { route, id };
    allowed.push(route.method);
  }
  if (allowed.length === 0) {
    throw new OpsProblem(404, 'unknown_path', `there is nothing at ${path}`);
  }
  throw new OpsProblem(405, 'method_not_allowed', `${path} takes ${allowed.join(', ')}`, {
    headers: { allow: allowed.join(', ') },
  });
}

/**
 * Returns the part of the path at `{id}`, or '' if the pattern has none. Undefined if the path does
 * not match.
 */
function matchPath(pattern: string, path: string): string | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  let id = '';
  for (const [index, segment] of wanted.entries()) {
    if (segment === '{id}') id = given[index] ?? '';
    else if (segment !== given[index]) return undefined;
  }
  return id;
}
