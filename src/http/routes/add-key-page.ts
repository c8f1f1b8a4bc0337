import { encodeHybridRefusal } from '../../protocol/encode-hybrid-refusal.ts';
import type { Exchange } from '../exchange.ts';
import { refuseMethod } from './refuse-method.ts';
import type { HttpRoute } from './route-table.ts';

interface PageFile {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const ROOT = '/';
const TIME_MAX_MS = 60_000;

/**
 * Adds the page for key owners to the routes. At `/`, clients that ask for HTML get the page; all
 * others get what the routes answer there without it.
 */
export function addKeyPage(
  routes: readonly HttpRoute[],
  files: ReadonlyMap<string, PageFile>,
): readonly HttpRoute[] {
  const page = files.get(ROOT);
  if (page === undefined) return routes;
  const atRoot = routes.filter(({ path }) => path === ROOT);
  const assets = [...files].filter(([path]) => path !== ROOT);
  return [
    ...routes.filter(({ path }) => path !== ROOT),
    ...atRoot.map((route) => preferPage(route, page)),
    preferPage(createRefusingRoute(atRoot), page),
    ...assets.map(([path, file]) => getRoute(path, (exchange) => sendFile(exchange, file))),
  ];
}

function preferPage(route: HttpRoute, { body, headers }: PageFile): HttpRoute {
  const page = { body, headers: { ...headers, vary: 'accept' } };
  return {
    ...route,
    handle: (exchange) => (wantsHtml(exchange) ? sendFile(exchange, page) : route.handle(exchange)),
  };
}

function createRefusingRoute(others: readonly HttpRoute[]): HttpRoute {
  const refusal = refuseMethod(
    'GET',
    ROOT,
    others.map(({ method }) => method),
  );
  return getRoute(ROOT, (exchange) => exchange.refuse(refusal));
}

function getRoute(path: string, handle: HttpRoute['handle']): HttpRoute {
  return {
    method: 'GET',
    path,
    timeMaxMs: TIME_MAX_MS,
    encodeRefusal: encodeHybridRefusal,
    handle,
  };
}

function sendFile(exchange: Exchange, { body, headers }: PageFile): void {
  exchange.answer({ status: 200, headers }, body);
}

/**
 * Browsers name `text/html` when somebody opens a page. Other programs also accept any type, so
 * that alone does not count.
 */
function wantsHtml(exchange: Exchange): boolean {
  const ranges = exchange.header('accept')?.toLowerCase().split(',') ?? [];
  return ranges.some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    return type === 'text/html' && !parameters.some((each) => /^q=0(\.0*)?$/.test(each));
  });
}
