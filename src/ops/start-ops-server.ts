import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Directory } from '../accounts/directory.ts';
import type { LedgerDesk } from '../ledger/create-ledger-desk.ts';
import type { Endpoint } from '../lib/endpoint.ts';
import type { Log } from '../lib/log.ts';
import { formatEndpoint } from '../lib/parse-endpoint.ts';
import type { Secret } from '../lib/secret.ts';
import { createOpenApiDocument } from '../protocol/create-openapi-document.ts';
import { createAdminHandler } from './admin-handler.ts';
import type { OpsAnswer } from './ops-answer.ts';
import { explainError, OpsProblem } from './ops-problem.ts';
import { sendLines } from './send-lines.ts';

const CONNECTIONS_MAX = 100;
const HEAD_TIME_MAX_MS = 10_000;
const REQUEST_TIME_MAX_MS = 30_000;
const IDLE_TIME_MAX_MS = 30_000;
/** How late a connection that takes too long may be noticed. */
const CHECK_INTERVAL_MS = 5_000;

export interface OpsServer {
  close(): void;
}

export interface OpsServerOptions {
  readonly endpoint: Endpoint;
  readonly version: string;
  /** Whether every worker takes connections. */
  readonly isReady: () => boolean;
  readonly admin: {
    readonly token: Secret;
    readonly directory: Directory;
    readonly ledger: LedgerDesk;
    /** Whether this is the id or an alias of a model, by the settings of now. */
    readonly isModel: (name: string) => boolean;
  };
  readonly log: Log;
}

/** For operators and their tools, not for clients: few connections, so Node's own server will do. */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const { endpoint, admin, log } = options;
  const answerOpen = createOpenHandler(options);
  const answerAdmin = createAdminHandler({ ...admin, log });

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [path = ''] = (request.url ?? '').split('?');
    try {
      const isAdmin = path.startsWith('/admin/v1/');
      const given = await (isAdmin ? answerAdmin(request, path) : answerOpen(request, path));
      if ('lines' in given) await sendLines(response, given);
      else send(response, given);
    } catch (error) {
      // A client that left while it was read gets no answer, and is nobody's mistake.
      if (request.destroyed && !request.complete) return;
      const problem = answerProblem(error, log);
      if (!response.headersSent) send(response, problem);
    }
  };

  const server = createServer(
    {
      headersTimeout: HEAD_TIME_MAX_MS,
      requestTimeout: REQUEST_TIME_MAX_MS,
      keepAliveTimeout: IDLE_TIME_MAX_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
    },
    (request, response) => void answer(request, response),
  );
  server.maxConnections = CONNECTIONS_MAX;
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

/** What needs no token. */
function createOpenHandler({ version, isReady }: Pick<OpsServerOptions, 'version' | 'isReady'>) {
  const openApi = createOpenApiDocument(version);
  const paths: Readonly<Record<string, () => OpsAnswer>> = {
    '/livez': () => ({ status: 200, body: { status: 'ok', version } }),
    '/readyz': () => {
      const isOk = isReady();
      return { status: isOk ? 200 : 503, body: { status: isOk ? 'ok' : 'unavailable' } };
    },
    '/openapi.json': () => ({ status: 200, body: openApi }),
  };
  return (request: IncomingMessage, path: string): OpsAnswer => {
    const answer = Object.hasOwn(paths, path) ? paths[path] : undefined;
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
  const { status, code, message, headers } =
    problem ?? new OpsProblem(500, 'internal_error', 'something went wrong here; see the log');
  return { status, body: { error: { code, message } }, headers };
}

function send(response: ServerResponse, { status, body, headers }: OpsAnswer): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
