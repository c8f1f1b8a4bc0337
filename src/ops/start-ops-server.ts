import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Endpoint } from '../lib/endpoint.ts';
import { formatEndpoint } from '../lib/parse-endpoint.ts';
import { createOpenApiDocument } from '../protocol/create-openapi-document.ts';

export interface OpsServer {
  close(): void;
}

interface OpsServerOptions {
  readonly endpoint: Endpoint;
  readonly version: string;
  /** Whether every worker takes connections. */
  readonly isReady: () => boolean;
}

/** For operators and their tools, not for clients: few connections, so Node's own server will do. */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const { endpoint, isReady, version } = options;
  const openApi = JSON.stringify(createOpenApiDocument(version));
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      send(response, 405, JSON.stringify({ error: `${request.method} is not taken here` }));
    } else if (path === '/livez') send(response, 200, JSON.stringify({ status: 'ok', version }));
    else if (path === '/readyz') {
      const status = isReady() ? 'ok' : 'unavailable';
      send(response, isReady() ? 200 : 503, JSON.stringify({ status }));
    } else if (path === '/openapi.json') send(response, 200, openApi);
    else send(response, 404, JSON.stringify({ error: `there is nothing at ${path}` }));
  });
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

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
