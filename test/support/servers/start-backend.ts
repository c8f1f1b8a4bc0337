import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { onTestFinished } from 'vitest';
import type { CleanUp } from '../create-temp-dir.ts';
import { findFreePort } from './find-free-port.ts';

/** A server of the native format that reports its name, and can be away for a while. */
export interface Backend {
  readonly url: string;
  /** The number of client requests and of health checks since the start. */
  readonly calls: { messages: number; probes: number };
  /** The headers of the last client request and of the last health check. */
  readonly headers: { message: IncomingHttpHeaders; probe: IncomingHttpHeaders };
  /** The status for client requests and for health checks; 200 until a test changes it. */
  readonly statuses: { messages: number; probes: number };
  /** The statuses for the next health checks, used first. */
  readonly nextProbeStatuses: number[];
  stop(): Promise<void>;
  start(): Promise<void>;
}

interface BackendOptions {
  readonly tls?: { readonly key: Buffer; readonly cert: Buffer };
  readonly cleanUp?: CleanUp;
}

/** Starts listening at once. */
export async function startBackend(
  name: string,
  { tls, cleanUp = onTestFinished }: BackendOptions = {},
): Promise<Backend> {
  const port = await findFreePort();
  let server: Server | undefined;
  const backend: Backend = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    calls: { messages: 0, probes: 0 },
    headers: { message: {}, probe: {} },
    statuses: { messages: 200, probes: 200 },
    nextProbeStatuses: [],
    async start() {
      const answer: RequestListener = (request, response) => {
        const [status, body] = answerOf(backend, request, name);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      };
      server = tls === undefined ? createHttpServer(answer) : createHttpsServer(tls, answer);
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    async stop() {
      if (server?.listening !== true) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  await backend.start();
  cleanUp(() => backend.stop());
  return backend;
}

function answerOf(
  { calls, headers, statuses, nextProbeStatuses }: Backend,
  request: IncomingMessage,
  name: string,
): readonly [status: number, body: object] {
  request.resume();
  if (request.method === 'GET') {
    calls.probes += 1;
    headers.probe = request.headers;
    return [nextProbeStatuses.shift() ?? statuses.probes, { data: [] }];
  }
  calls.messages += 1;
  headers.message = request.headers;
  if (statuses.messages !== 200) {
    return [statuses.messages, { type: 'error', error: { type: 'api_error', message: 'no' } }];
  }
  return [
    200,
    {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'any' },
      content: [{ type: 'text', text: name }],
      ...{ stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  ];
}
