import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { Endpoint } from '../lib/address/endpoint.ts';
import { formatEndpoint } from '../lib/address/parse-endpoint.ts';
import type { Log } from '../lib/log.ts';
import type { Readiness } from '../lib/readiness.ts';
import { cutStalledReader } from './access/cut-stalled-reader.ts';
import { limitConnections } from './access/limit-connections.ts';
import { createOneAtATime } from './access/one-at-a-time.ts';
import { type AdminHandlerOptions, createAdminHandler } from './admin-handler.ts';
import { loadDashboard } from './load-dashboard.ts';
import { loadDocs } from './load-docs.ts';
import { createOidcHandler } from './oidc/oidc-handler.ts';
import type { OpsAnswer } from './ops-answer.ts';
import { explainError, OpsProblem } from './ops-problem.ts';
import type { AdminRoute } from './routes/admin-route.ts';
import { createAdminRoutes } from './routes/admin-routes.ts';
import { createOpsDocument } from './schemas/create-ops-document.ts';

const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 30_000,
  /** How late a connection that takes too long may be noticed. */
  connectionsCheckingInterval: 5_000,
};

const JSON_TYPE = { 'content-type': 'application/json' };

export interface OpsServer {
  close(): void;
}

interface OpsServerOptions {
  readonly endpoint: Endpoint;
  readonly version: string;
  /** Also `unavailable` until every worker accepts connections. */
  readonly readiness: () => Readiness;
  readonly collectMetrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly admin: AdminHandlerOptions;
  /** The folder into which the build puts the dashboard. */
  readonly dashboardDir: string;
  /** The folder into which the build puts the documentation. */
  readonly docsDir: string;
  readonly log: Log;
}

/**
 * Serves operators and their tools, not clients. There are few connections, so Node's own server
 * will do.
 */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const { endpoint, admin, log } = options;
  const routes = createAdminRoutes(admin);
  const answerOpen = createOpenHandler(options, routes);
  const server = createServer(TIMES, (request, response) => void answer(request, response));
  const answerOidc = createOidcHandler(admin, log);
  const answerAdmin = createAdminHandler(admin, routes, { log, trust: limitConnections(server) });

  const find = (path: string): typeof answerAdmin => {
    if (path.startsWith('/admin/v1/')) return answerAdmin;
    return path === '/oidc' || path.startsWith('/oidc/') ? answerOidc : answerOpen;
  };

  const isAlone = createOneAtATime();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (!isAlone(request.socket, response)) return;
    const [path = ''] = (request.url ?? '').split('?');
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    try {
      const answered = await find(path)(request, path, leaving.signal);
      if ('stream' in answered) await answered.stream(response);
      else send(response, answered);
      cutStalledReader(response);
    } catch (error) {
      // A client that left gets no answer, and this is no error.
      if (leaving.signal.aborted || (request.destroyed && !request.complete)) return;
      const problem = answerProblem(error, log);
      if (!response.headersSent) send(response, problem);
    }
  };

  try {
    if (endpoint.kind === 'unix') server.listen(endpoint.path);
    else server.listen({ host: endpoint.host, port: endpoint.port, exclusive: true });
    await once(server, 'listening');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot listen on ${formatEndpoint(endpoint)} (ops.listen): ${reason}`, {
      cause,
    });
  }
  return {
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Serves the paths that need no token. */
function createOpenHandler(
  {
    version,
    readiness,
    collectMetrics,
    dashboardDir,
    docsDir,
  }: Omit<OpsServerOptions, 'endpoint' | 'admin' | 'log'>,
  routes: readonly AdminRoute[],
) {
  let openApi: string | undefined;
  const files = new Map([...loadDashboard(dashboardDir), ...loadDocs(docsDir)]);
  const paths: Readonly<Record<string, () => OpsAnswer | Promise<OpsAnswer>>> = {
    '/livez': () => ({ status: 200, body: { status: 'ok', version } }),
    '/readyz': () => {
      const status = readiness();
      return { status: status === 'unavailable' ? 503 : 200, body: { status } };
    },
    '/metrics': async () => {
      const { contentType, text } = await collectMetrics();
      return { status: 200, body: text, headers: { 'content-type': contentType } };
    },
    '/openapi.json': () => {
      // Few ask for it, and making it is a seventh of what the primary takes to start.
      openApi ??= JSON.stringify(createOpsDocument(version, routes));
      return { status: 200, body: openApi, headers: JSON_TYPE };
    },
  };
  return async (request: IncomingMessage, path: string): Promise<OpsAnswer> => {
    const file = files.get(path);
    const answer = Object.hasOwn(paths, path) ? paths[path] : file && (() => file);
    if (answer === undefined) {
      throw new OpsProblem(404, 'unknown_path', `there is nothing at ${path}`);
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new OpsProblem(405, 'method_not_allowed', `${path} takes GET, HEAD`, {
        headers: { allow: 'GET, HEAD' },
      });
    }
    return answer();
  };
}

function answerProblem(error: unknown, log: Log): OpsAnswer {
  const problem = explainError(error);
  if (problem === undefined) log.error({ err: error }, 'a request of an operator failed');
  const { status, code, message, headers, details } =
    problem ?? new OpsProblem(500, 'internal_error', 'something went wrong here; see the log');
  return { status, body: { error: { code, message, ...details } }, headers };
}

function send(response: ServerResponse, { status, body, headers }: OpsAnswer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    ...JSON_TYPE,
    'content-length': Buffer.byteLength(text),
    ...(headers as OutgoingHttpHeaders | undefined),
  });
  response.end(text);
}
