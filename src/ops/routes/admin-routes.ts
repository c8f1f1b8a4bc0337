import type { Directory } from '../../accounts/directory.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { OpsProblem } from '../ops-problem.ts';
import { createAdminSchemas } from '../schemas/admin-schemas.ts';
import { createAccountRoutes } from './account-routes.ts';
import type { AdminRoute, PathNames } from './admin-route.ts';
import { createAuditRoutes } from './audit-routes.ts';
import { type BooksRoutesOptions, createBooksRoutes } from './books-routes.ts';
import { type CatalogueRoutesOptions, createCatalogueRoutes } from './catalogue-routes.ts';
import { type ClusterRoutesOptions, createClusterRoutes } from './cluster-routes.ts';
import { createGroupRoutes } from './group-routes.ts';
import { createKeyRoutes, type KeyRoutesOptions } from './key-routes.ts';
import { createLimitEventRoutes, type LimitEventRoutesOptions } from './limit-event-routes.ts';
import { createModelRoutes, type ModelRoutesOptions } from './model-routes.ts';
import { createOperatorRoutes, type OperatorRoutesOptions } from './operator-routes.ts';
import { createPlaygroundRoutes, type PlaygroundRoutesOptions } from './playground-routes.ts';
import { createUsageRoutes } from './usage-routes.ts';

export interface AdminRoutesOptions
  extends ClusterRoutesOptions,
    ModelRoutesOptions,
    CatalogueRoutesOptions,
    LimitEventRoutesOptions,
    Omit<OperatorRoutesOptions, 'schemas'>,
    PlaygroundRoutesOptions {
  readonly directory: Directory;
  readonly rateRules: KeyRoutesOptions['rateRules'];
  readonly digestEndUser: KeyRoutesOptions['digestEndUser'];
  readonly books: BooksRoutesOptions['books'];
  /**
   * The name that stands for this model in a list of models, by the settings in use. Undefined if
   * there is no such model.
   */
  readonly nameModel: (name: string) => string | undefined;
  readonly clock: Clock;
}

export function createAdminRoutes(options: AdminRoutesOptions): readonly AdminRoute[] {
  const { nameModel, ...rest } = options;
  const planNames = () => Object.keys(rest.rateRules().plans);
  const schemas = createAdminSchemas({ nameModel, planNames, clock: rest.clock });
  const parts = { ...rest, schemas };
  return [
    ...createAccountRoutes(parts),
    ...createGroupRoutes(parts),
    ...createKeyRoutes(parts),
    ...createBooksRoutes(parts),
    ...createUsageRoutes(parts),
    ...createClusterRoutes(parts),
    ...createModelRoutes(parts),
    ...createCatalogueRoutes(parts),
    ...createLimitEventRoutes(parts),
    ...createAuditRoutes(parts),
    ...createOperatorRoutes(parts),
    ...createPlaygroundRoutes(parts),
  ];
}

/** Throws if nothing is at the path, or if it does not take the method. */
export function findAdminRoute(
  routes: readonly AdminRoute[],
  method: string,
  path: string,
): { readonly route: AdminRoute; readonly names: PathNames } {
  const allowed: string[] = [];
  for (const route of routes) {
    const names = matchPath(route.path, path);
    if (names === undefined) continue;
    if (route.method === method) return { route, names };
    allowed.push(route.method);
  }
  if (allowed.length === 0) {
    throw new OpsProblem(404, 'unknown_path', `there is nothing at ${path}`);
  }
  throw new OpsProblem(405, 'method_not_allowed', `${path} takes ${allowed.join(', ')}`, {
    headers: { allow: allowed.join(', ') },
  });
}

/** Returns the parts of the path at `{id}` and `{month}`. Undefined if the path does not match. */
function matchPath(pattern: string, path: string): PathNames | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const names = { id: '', month: '' };
  for (const [index, segment] of wanted.entries()) {
    const part = given[index] ?? '';
    if (segment === '{id}') names.id = part;
    else if (segment === '{month}') names.month = part;
    else if (segment !== part) return undefined;
  }
  return names;
}
