import type { Exchange } from '../../../src/http/exchange.ts';
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../../../src/http/http-limits.ts';
import { loadUws } from '../../../src/http/load-uws.ts';
import type { HttpRoute } from '../../../src/http/routes/route-table.ts';
import { type Server, startServer } from '../../../src/http/start-server.ts';
import { encodeHybridRefusal } from '../../../src/protocol/encode-hybrid-refusal.ts';
import { createMemoryLog, type MemoryLog } from '../memory-log.ts';
import { findFreePort } from './find-free-port.ts';

export interface TestServer {
  readonly port: number;
  readonly url: string;
  readonly server: Server;
  readonly log: MemoryLog;
}

type Handle = (exchange: Exchange) => void | Promise<void>;

/** Runs the real HTTP layer in this process, on its own port, with the test's handlers. */
export async function startTestServer(
  handlers: Readonly<Record<`${HttpRoute['method']} ${string}`, Handle>>,
  limits: Partial<HttpLimits> = {},
  timeMaxMs = 60_000,
  options: Pick<HttpRoute, 'ignoresBody'> = {},
): Promise<TestServer> {
  const log = createMemoryLog();
  const port = await findFreePort();
  const routes = Object.entries(handlers).map(([name, handle]): HttpRoute => {
    const [method, path] = name.split(' ') as [HttpRoute['method'], string];
    return { method, path, handle, timeMaxMs, encodeRefusal: encodeHybridRefusal, ...options };
  });
  const server = await startServer({
    uws: loadUws([]).uws,
    endpoint: { kind: 'tcp', host: '127.0.0.1', port },
    routes,
    openRefusal: (route) => route,
    limits: { ...DEFAULT_HTTP_LIMITS, ...limits },
    clock: { nowMs: () => Date.now() },
    log,
  });
  return { port, url: `http://127.0.0.1:${port}`, server, log };
}
