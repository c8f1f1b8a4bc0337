import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import type { Endpoint } from '../lib/address/endpoint.ts';
import { formatEndpoint } from '../lib/address/parse-endpoint.ts';
import type { Log } from '../lib/log.ts';
import { createRequestIdMint } from '../lib/request-id.ts';
import type { Clock } from '../lib/time/clock.ts';
import { createDeadlineList, type DeadlineList } from '../timers/deadline-list.ts';
import { createBlockedAnswers } from './blocked-answers.ts';
import { createBodyBudget } from './body-budget.ts';
import type { Exchange } from './exchange.ts';
import { type HttpLimits, KEEP_OPEN_INTERVAL_MS } from './http-limits.ts';
import type { Uws, UwsApp, UwsListenToken } from './load-uws.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { OpenRoute } from './routes/create-cors.ts';
import { dispatchRequest } from './routes/dispatch-request.ts';
import { createRouteTable, type HttpRoute } from './routes/route-table.ts';

const UNIX_SOCKET_MODE = 0o660;

export interface Server {
  /** Takes no new connections. Open connections stay. */
  stopListening(): void;
  /** Asks the clients of open connections to go elsewhere after their next answer. */
  askClientsToLeave(): void;
  readonly activeExchanges: number;
  readonly activeStreams: number;
  /** The memory that request bodies take up now. */
  readonly heldBodyBytes: number;
  /** The memory of whole answers that wait for their clients to read them. */
  readonly blockedAnswerBytes: number;
  /** Milliseconds since the last exchange began or ended; 0 while one is open. */
  quietForMs(): number;
  /** Cuts what is still open. */
  close(): void;
}

interface ServerOptions {
  readonly uws: Uws;
  readonly endpoint: Endpoint;
  readonly routes: readonly HttpRoute[];
  /** Applied to the answer where there is no route. */
  readonly openRefusal: OpenRoute;
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly log: Log;
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const { uws, limits, clock, log } = options;
  let isLeaving = false;
  let activeExchanges = 0;
  let activeStreams = 0;
  let lastChangeMs = performance.now();
  const waiting = new Set<ResponseWriter>();

  const context = {
    limits,
    bodyBudget: createBodyBudget({
      heldBytesMax: limits.bodiesHeldBytesMax,
      strangersHeldBytesMax: limits.strangersHeldBytesMax,
    }),
    waiting,
    blockedAnswers: createBlockedAnswers(limits.answersBlockedBytesMax),
    bodyDeadlines: createDeadlineList<Exchange>({
      afterMs: limits.bodyTimeMaxMs,
      nowMs: () => performance.now(),
      onDue: (exchange) => exchange.giveUpOnBody(),
    }),
    deadlinesOf: createDeadlines(),
    mintRequestId: createRequestIdMint(randomBytes),
    log,
    clock,
    ...{ routes: createRouteTable(options.routes), openRefusal: options.openRefusal },
    isLeaving: () => isLeaving,
    onFinished: () => {
      activeExchanges--;
      lastChangeMs = performance.now();
    },
    onStreamStarted: () => void activeStreams++,
    onStreamFinished: () => void activeStreams--,
  };

  const app = uws.App();
  app.any('/*', (res, req) => {
    activeExchanges++;
    lastChangeMs = performance.now();
    dispatchRequest(res, req, context);
  });
  let token: UwsListenToken = await listen(app, options.endpoint);

  const stopTouching = touchRegularly(waiting, context.bodyDeadlines);

  const stopListening = () => {
    // Some builds crash when a token is closed twice.
    if (token !== false) uws.us_listen_socket_close(token);
    token = false;
  };
  return {
    stopListening,
    askClientsToLeave() {
      isLeaving = true;
    },
    get activeExchanges() {
      return activeExchanges;
    },
    get activeStreams() {
      return activeStreams;
    },
    get heldBodyBytes() {
      return context.bodyBudget.heldBytes;
    },
    get blockedAnswerBytes() {
      return context.blockedAnswers.heldBytes;
    },
    quietForMs: () => (activeExchanges > 0 ? 0 : performance.now() - lastChangeMs),
    close() {
      stopListening();
      stopTouching();
      app.close();
    },
  };
}

function touchRegularly(
  writers: ReadonlySet<ResponseWriter>,
  exchanges: DeadlineList<Exchange>,
): () => void {
  const timer = setInterval(() => {
    for (const writer of writers) writer.touch();
    exchanges.visit((exchange) => exchange.touch());
  }, KEEP_OPEN_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** One list for each time limit that routes give their exchanges. */
function createDeadlines(): (timeMaxMs: number) => DeadlineList<Exchange> {
  const lists = new Map<number, DeadlineList<Exchange>>();
  return (timeMaxMs) => {
    const known = lists.get(timeMaxMs);
    if (known !== undefined) return known;
    const onDue = (exchange: Exchange) => exchange.expire();
    const nowMs = () => performance.now();
    const list = createDeadlineList({ afterMs: timeMaxMs, nowMs, onDue });
    lists.set(timeMaxMs, list);
    return list;
  };
}

async function listen(app: UwsApp, endpoint: Endpoint): Promise<object> {
  const token = await new Promise<UwsListenToken>((resolve) => {
    if (endpoint.kind === 'tcp') app.listen(endpoint.host, endpoint.port, resolve);
    else app.listen_unix(resolve, endpoint.path);
  });
  if (token === false) throw new Error(`cannot listen on ${formatEndpoint(endpoint)}`);
  // uWS gives the socket to its own user, but a proxy usually runs as another one.
  if (endpoint.kind === 'unix') chmodSync(endpoint.path, UNIX_SOCKET_MODE);
  return token;
}
