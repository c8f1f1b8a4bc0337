import type { Clock } from '../../lib/time/clock.ts';
import { encodeHybridRefusal } from '../../protocol/encode-hybrid-refusal.ts';
import { hintForPath } from '../../protocol/hint-for-path.ts';
import { Refusal } from '../../protocol/refusals.ts';
import type { DeadlineList } from '../../timers/deadline-list.ts';
import { Exchange, type ExchangeContext } from '../exchange.ts';
import type { UwsRequest, UwsResponse } from '../load-uws.ts';
import { type RequestHead, readRequestHead } from '../read-request-head.ts';
import type { OpenRoute } from './create-cors.ts';
import { refuseMethod } from './refuse-method.ts';
import type { HttpRoute, RouteTable } from './route-table.ts';

/** For answers without a handler: only a client that sends slowly can make them last. */
const REFUSAL_TIME_MAX_MS = 120_000;
const PATH_CHARS_SHOWN_MAX = 200;

interface DispatchContext extends ExchangeContext {
  readonly routes: RouteTable;
  readonly openRefusal: OpenRoute;
  readonly clock: Clock;
  readonly deadlinesOf: (timeMaxMs: number) => DeadlineList<Exchange>;
  readonly mintRequestId: (nowMs: number) => string;
}

/** Takes one request from uWS to its handler. It must never throw: uWS would end the process. */
export function dispatchRequest(res: UwsResponse, req: UwsRequest, context: DispatchContext): void {
  const head = readRequestHead(req);
  if (head === undefined) {
    // Only closing stops uWS from handling a request that an attacker hid behind this one.
    res.onAborted(() => {});
    res.close();
    context.onFinished();
    return;
  }
  const found = context.routes.find(head.method, head.path);
  const route =
    'handle' in found ? found : context.openRefusal(createRefusingRoute(head, found.allowed));
  const exchange = new Exchange(res, head, context, {
    requestId: context.mintRequestId(context.clock.nowMs()),
    wantsBody: route.method === 'POST' && route.ignoresBody !== true,
    deadlines: context.deadlinesOf(route.timeMaxMs),
    encodeRefusal: route.encodeRefusal,
    statusOf: route.statusOf,
  });
  runHandler(route, exchange);
  exchange.armDeadlines();
}

function runHandler(route: HttpRoute, exchange: Exchange): void {
  try {
    const result = route.handle(exchange);
    if (result === undefined) checkAnswered(exchange);
    else
      result.then(
        () => checkAnswered(exchange),
        (error: unknown) => exchange.fail(error),
      );
  } catch (error) {
    exchange.fail(error);
  }
}

function checkAnswered(exchange: Exchange): void {
  if (exchange.isFinished || exchange.hasEnded) return;
  exchange.fail(new Error('the handler returned without finishing its answer'));
}

function createRefusingRoute(head: RequestHead, allowed: readonly string[]): HttpRoute {
  const path = head.path.slice(0, PATH_CHARS_SHOWN_MAX);
  const refusal =
    allowed.length === 0
      ? new Refusal('unknown_path', describeUnknownPath(head.method, path))
      : refuseMethod(head.method, path, allowed);
  return {
    method: 'GET',
    path,
    timeMaxMs: REFUSAL_TIME_MAX_MS,
    encodeRefusal: encodeHybridRefusal,
    handle: (exchange) => exchange.refuse(refusal),
  };
}

function describeUnknownPath(method: string, path: string): string {
  const hint = hintForPath(path);
  return `There is nothing at ${method} ${path}.${hint === undefined ? '' : ` ${hint}`}`;
}
