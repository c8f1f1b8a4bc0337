import type { Exchange } from '../exchange.ts';
import type { HttpRoute } from './route-table.ts';

type Headers = Readonly<Record<string, string>>;

/** Opens a route to pages of other origins. */
export type OpenRoute = (route: HttpRoute) => HttpRoute;

const ANY_ORIGIN = '*';
/** The answer to what browsers ask before any request that a plain form could not send. */
const PREFLIGHT_HEAD = {
  status: 200,
  headers: {
    'access-control-allow-methods': '*',
    'access-control-allow-headers': 'authorization, *',
    // The longest time that browsers keep it.
    'access-control-max-age': '7200',
  },
};

/**
 * Opens routes to pages of these origins, refusals and streams included. Keys are in headers and
 * never in cookies, so browsers accept `*` for all methods, and for all headers that a client sends
 * or reads. Only `authorization` must be named.
 */
export function createCors(origins: readonly string[]): OpenRoute {
  if (origins.length === 0) return (route) => route;
  const headersFor = createHeaders(origins);
  return (route) => ({
    ...route,
    handle(exchange: Exchange) {
      exchange.addHeaders(headersFor(exchange.header('origin')));
      if (exchange.head.method !== 'OPTIONS') return route.handle(exchange);
      exchange.answer(PREFLIGHT_HEAD, '');
    },
  });
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
