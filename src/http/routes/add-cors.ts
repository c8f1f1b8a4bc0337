import { encodeHybridRefusal } from '../../protocol/encode-hybrid-refusal.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpRoute } from './route-table.ts';

type Headers = Readonly<Record<string, string>>;

const ANY_ORIGIN = '*';
const TIME_MAX_MS = 10_000;
/** The longest that browsers keep one. */
const PREFLIGHT_KEPT_S = 7_200;

/**
 * The routes, readable for pages of these origins, refusals and streams included. Keys are in headers and never in
 * cookies, so browsers take `*` for every header that a client sends or reads, but for the one that they want named.
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

/** Caches must not give one origin what another one got. */
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

/** What browsers ask before they send a request that no form could send. */
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
