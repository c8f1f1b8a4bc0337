import type { Clock } from '../../lib/time/clock.ts';
import { Connection, type ConnectionOwner } from './connection.ts';
import { createIdleConnections } from './create-idle-connections.ts';
import { encodeOriginLines, encodeRequestHead } from './encode-request.ts';
import { Exchange } from './exchange.ts';
import type { HttpClient } from './http-client.ts';
import { createHttpFailure, type HttpFailureKind } from './http-failure.ts';
import { createOpenSocket, type TlsOptions } from './open-socket.ts';
import type { Origin } from './origin.ts';

export interface HttpClientOptions {
  readonly origin: Origin;
  /** A request beyond fails; nothing waits for a connection to become free. */
  readonly connectionsMax: number;
  /** Until a connection is ready, with name look-up and TLS. All other deadlines are the caller's. */
  readonly connectTimeoutMs: number;
  readonly tls?: TlsOptions;
  readonly clock: Clock;
}

/** An HTTP/1.1 client for one origin: kept connections, one request at a time on each. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { origin, connectionsMax, connectTimeoutMs, tls, clock } = options;
  const idle = createIdleConnections(clock);
  const originLines = encodeOriginLines(origin);
  let connections = 0;
  let inFlight = 0;
  let isClosed = false;

  const owner: ConnectionOwner = {
    openSocket: createOpenSocket(origin, tls),
    connectTimeoutMs,
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

  const connect = (exchange: Exchange) => {
    connections += 1;
    exchange.connection = new Connection(owner, exchange);
  };

  const onOver = () => {
    inFlight -= 1;
  };

  const failSoon = (exchange: Exchange, kind: HttpFailureKind, reason: string) => {
    process.nextTick(() => exchange.fail(createHttpFailure(kind, reason)));
  };

  return {
    get inFlight() {
      return inFlight;
    },
    send(request, handler) {
      const head = encodeRequestHead(request, originLines);
      const exchange = new Exchange({ request, head, handler, onOver });
      inFlight += 1;
      const kept = idle.take();
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
