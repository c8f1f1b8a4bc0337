import { once } from 'node:events';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import { waitUntil } from '../../support/wait-until.ts';

/** One connection as the server sees it: bytes without HTTP. */
export interface Peer {
  readonly socket: Socket;
  /** Everything that has come so far, one character per byte. */
  received(): string;
  /** How many requests have come completely. */
  requests(): number;
  isClosed(): boolean;
  /** Sends the pieces so that each of them is read separately. */
  send(...pieces: readonly string[]): Promise<void>;
}

export interface RawServer {
  readonly port: number;
  readonly peers: Peer[];
  waitForRequests(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface RawServerOptions {
  /**
   * Runs whenever a request has come completely. `number` counts this connection's requests from 1.
   */
  readonly onRequest?: (peer: Peer, number: number) => void;
  readonly onConnection?: (peer: Peer) => void;
  readonly tls?: TlsOptions;
  readonly host?: string;
}

/** A server that does what the test says and enforces no rules. It ends with the running test. */
export async function startRawServer(options: RawServerOptions = {}): Promise<RawServer> {
  const peers: Peer[] = [];
  const accept = (socket: Socket) => {
    const peer = createPeer(socket, options);
    peers.push(peer);
    options.onConnection?.(peer);
  };
  const server: Server =
    options.tls === undefined
      ? createTcpServer({ noDelay: true }, accept)
      : createTlsServer(options.tls, accept);
  server.on('tlsClientError', () => {});
  server.listen(0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    for (const { socket } of peers) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  onTestFinished(close);
  return {
    port: (server.address() as AddressInfo).port,
    peers,
    waitForRequests: (count) =>
      waitUntil(
        () => peers.reduce((sum, peer) => sum + peer.requests(), 0) >= count,
        `${count} requests have come`,
      ),
    close,
  };
}

function createPeer(socket: Socket, { onRequest }: RawServerOptions): Peer {
  let received = '';
  let requests = 0;
  let isClosed = false;
  let requestStart = 0;
  /** The end of the incoming request. Undefined while its head is incomplete. */
  let requestEnd: number | undefined;
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  socket.on('data', (data) => {
    received += data.toString('latin1');
    requestEnd ??= findEnd(received, requestStart);
    while (requestEnd !== undefined && received.length >= requestEnd) {
      requestStart = requestEnd;
      requestEnd = findEnd(received, requestStart);
      requests += 1;
      onRequest?.(peer, requests);
    }
  });
  const peer: Peer = {
    socket,
    received: () => received,
    requests: () => requests,
    isClosed: () => isClosed,
    async send(...pieces) {
      for (const piece of pieces) {
        if (piece !== '' && !isClosed) socket.write(piece, 'latin1');
        // Client and server share one event loop: the client reads in between.
        await nextTurn();
        await nextTurn();
      }
    },
  };
  return peer;
}

/** The end of the request that begins at `start`. Undefined while its head is incomplete. */
function findEnd(received: string, start: number): number | undefined {
  const headEnd = received.indexOf('\r\n\r\n', start);
  if (headEnd === -1) return undefined;
  const head = received.slice(start, headEnd);
  return headEnd + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
}
