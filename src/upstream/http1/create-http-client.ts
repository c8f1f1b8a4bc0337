/**
 * FAST TWIN of `undici`.
 * Held equal by `test/fuzz/http1-answers.test.ts`.
 * Gain: 26 to 12 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import type { Clock } from '../../lib/time/clock.ts';
import { ConnectionExchange } from './connection-exchange.ts';
import { encodeOriginLines, encodeRequestHead } from './encode-request.ts';
import type { HttpClient } from './http-client.ts';
import { type ConnectionOwner, HttpConnection } from './http-connection.ts';
import { createHttpFailure, type HttpFailureKind } from './http-failure.ts';
import { createIdleConnections } from './idle-connections.ts';
import { createOpenSocket, type TlsOptions } from './open-socket.ts';
import type { Origin } from './origin.ts';

export interface HttpClientOptions {
  readonly origin: Origin;
  /** A request beyond this number fails: no request waits for a free connection. */
  readonly connectionsMax: number;
  /** May end an exchange, because all connections are in use and one more is needed. */
  readonly makeRoom?: () => void;
  /**
   * The time until a connection is ready, with name look-up and TLS. All other deadlines are the
   * caller's.
   */
  readonly connectTimeoutMs: number;
  readonly tls?: TlsOptions;
  readonly clock: Clock;
}

/**
 * An HTTP/1.1 client for one origin. It keeps connections, and each carries one request at a time.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { origin, connectionsMax, makeRoom, connectTimeoutMs, tls, clock } = options;
  const idle = createIdleConnections(clock);
  const originLines = encodeOriginLines(origin);
  let connections = 0;
  let isClosed = false;

  const owner: ConnectionOwner = {
    openSocket: createOpenSocket(origin, tls),
    connectTimeoutMs,
    clock,
    onIdle(connection, keepMs) {
      if (isClosed) connection.destroy();
      else idle.add(connection, keepMs);
    },
    onGone(connection) {
      connections -= 1;
      idle.remove(connection);
    },
    repeat: (exchange) => connect(exchange),
  };

  const connect = (exchange: ConnectionExchange) => {
    connections += 1;
    exchange.connection = new HttpConnection(owner, exchange);
  };

  const failSoon = (exchange: ConnectionExchange, kind: HttpFailureKind, reason: string) => {
    process.nextTick(() => exchange.fail(createHttpFailure(kind, reason)));
  };

  return {
    send(request, handler) {
      const head = encodeRequestHead(request, originLines);
      const exchange = new ConnectionExchange({ request, head, handler });
      const kept = idle.take();
      if (kept === undefined && connections >= connectionsMax) makeRoom?.();
      if (kept !== undefined) kept.start(exchange);
      else if (isClosed) failSoon(exchange, 'client_closed', 'the client was closed');
      else if (connections < connectionsMax) connect(exchange);
      else failSoon(exchange, 'connections_exhausted', `all ${connectionsMax} are in use`);
      return exchange;
    },
    close() {
      isClosed = true;
      idle.destroyAll();
    },
  };
}
