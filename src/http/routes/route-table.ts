import type { RefusalEncoder } from '../../protocol/encode-hybrid-refusal.ts';
import type { Format } from '../../protocol/format.ts';
import type { Exchange } from '../exchange.ts';

export interface HttpRoute {
  /** A GET route answers HEAD as well. */
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  /** A POST whose body nobody reads: none of it is kept. */
  readonly ignoresBody?: true;
  /**
   * Compared byte by byte with the path that the client sent, without the query. A path that ends
   * in `/*` matches any rest, also of several segments, that has no route of its own and does not
   * end in `/`.
   */
  readonly path: string;
  /** The time from the end of the handler's synchronous part to the last byte of the answer. */
  readonly timeMaxMs: number;
  readonly encodeRefusal: RefusalEncoder;
  /** For a format whose refusals have other statuses than their usual ones. */
  readonly statusOf?: Format['statusOf'];
  readonly handle: (exchange: Exchange) => void | Promise<void>;
}

export interface RouteTable {
  /** The route, or the methods that this path allows instead. An unknown path allows none. */
  find(method: string, path: string): HttpRoute | { readonly allowed: readonly string[] };
}

const NOTHING_ALLOWED = { allowed: [] };

export function createRouteTable(routes: readonly HttpRoute[]): RouteTable {
  const byPath = new Map<string, Map<string, HttpRoute>>();
  for (const route of routes) {
    const byMethod = byPath.get(route.path) ?? new Map<string, HttpRoute>();
    byPath.set(route.path, byMethod);
    if (byMethod.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
    byMethod.set(route.method, route);
    if (route.method === 'GET' && !byMethod.has('HEAD')) byMethod.set('HEAD', route);
  }
  const wildcards = [...byPath].flatMap(([path, byMethod]) =>
    path.endsWith('/*') ? [{ beginning: path.slice(0, -1), byMethod }] : [],
  );
  const findWildcard = (path: string) =>
    path.endsWith('/')
      ? undefined
      : wildcards.find(({ beginning }) => path.startsWith(beginning))?.byMethod;
  return {
    find(method, path) {
      const byMethod = byPath.get(path) ?? findWildcard(path);
      if (byMethod === undefined) return NOTHING_ALLOWED;
      return byMethod.get(method) ?? { allowed: [...byMethod.keys()] };
    },
  };
}
