import { encodeHybridRefusal } from '../../protocol/encode-hybrid-refusal.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpRoute } from './route-table.ts';

type Headers = Readonly<Record<string, string>>;

const ANY_ORIGIN = '*';
const TIME_MAX_MS = 10_000;
/** The longest time that browsers keep the answer to a preflight. */
const PREFLIGHT_KEPT_S = 7_200;

/**
 * Opens the routes to pages of these origins, refusals and streams included. Keys are in headers
 * and never in cookies, so browsers accept `*` for all headers that a client sends or reads. Only
 * `authorization` must be named.
 */
export function addCors(
  routes: readonly HttpRoute[],
  origins: readonly string[],
): readonly HttpRoute[] {
  if (origins.length === 0) return routes;
  const headersFor = createHeaders(origins);
  const open = (route: HttpRoute): HttpRoute => ({
    ...route,
    handle(exchange) {
      exchange.addHeaders(headersFor(exchange.header('origin')));
      return route.handle(exchange);
    },
  });
  const paths = [...new Set(routes.map(({ path }) => path))];
  const preflights = paths.map((path) =>
    createPreflight(
      path,
      routes.filter((route) => route.path === path).map(({ method }) => method),
    ),
  );
  return [...routes, ...preflights].map(open);
}

/** `vary` keeps caches from giving one origin the answer to another one. */
function createHeaders(origins: readonly string[]): (origin: string | undefined) => Headers {
  const allow = (origin: string) => ({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': '*',
  });
  if (origins.includes(ANY_ORIGIN)) {
    const headers = allow(ANY_ORIGIN);
    return () => headers;
  }
  const others = { vary: 'origin' };
  const known = new Map(origins.map((origin) => [origin, { ...allow(origin), ...others }]));
  return (origin) => (origin === undefined ? others : (known.get(origin) ?? others));
}

/** Answers the request that browsers send before any request that a plain form could not send. */
function createPreflight(path: string, methods: readonly string[]): HttpRoute {
  const headers = {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': 'authorization, *',
    'access-control-max-age': String(PREFLIGHT_KEPT_S),
  };
  return {
    method: 'OPTIONS',
    path,
    timeMaxMs: TIME_MAX_MS,
    encodeRefusal: encodeHybridRefusal,
    handle: (exchange: Exchange) => exchange.answer({ status: 200, headers }, ''),
  };
}
