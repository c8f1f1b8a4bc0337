import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CleanUp } from '../create-temp-dir.ts';
import { waitUntil } from '../wait-until.ts';

/** Resets the connection at once. */
export const RESET = Symbol('reset');
/** Closes the connection in order, after everything that was sent. */
export const CLOSE = Symbol('close');

export type Step = string | Uint8Array | typeof RESET | typeof CLOSE;

/**
 * Handles one request, byte for byte; `number` counts the requests of the path from 1. The
 * connection stays open unless the script ends it: an incomplete answer stalls, and a complete
 * answer keeps the connection alive.
 */
export type Script = (number: number, request: ScriptedRequest) => Steps;

export type Steps = Iterable<Step> | AsyncIterable<Step>;

export interface ScriptedRequest {
  /** Counts the connections of the server from 1. */
  readonly connection: number;
  readonly head: string;
  readonly body: string;
  isConnectionClosed(): boolean;
}

export interface ScriptedUpstream {
  readonly url: string;
  /** Sets the script for all later requests whose path begins with this prefix. */
  play(path: string, script: Script): void;
  /** Every request that arrived completely, in order. */
  requests(path: string): readonly ScriptedRequest[];
}

interface Place {
  readonly path: string;
  readonly script: Script;
  readonly requests: ScriptedRequest[];
}

/**
 * An upstream that answers exactly as the test says. It enforces no rules, not even those of HTTP.
 */
export async function startScriptedUpstream(cleanUp: CleanUp): Promise<ScriptedUpstream> {
  const places: Place[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const answer = (socket: Socket, connection: number, { head, body }: Received) => {
    const path = head.split(' ')[1] ?? '';
    const place = places.findLast((other) => path.startsWith(`${other.path}/`));
    if (place === undefined) throw new Error(`nothing is played for ${path}`);
    const request = { connection, head, body, isConnectionClosed: () => socket.destroyed };
    place.requests.push(request);
    void playSteps(socket, place.script(place.requests.length, request));
  };

  const server = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    const connection = connections;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    readRequests(socket, (received) => answer(socket, connection, received));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await waitUntil(() => sockets.size === 0, 'all connections are closed');
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play: (path, script) => places.push({ path, script, requests: [] }),
    requests: (path) => places.findLast((place) => place.path === path)?.requests ?? [],
  };
}

async function playSteps(socket: Socket, steps: Steps): Promise<void> {
  for await (const step of steps) {
    if (socket.destroyed) return;
    if (step === RESET) socket.resetAndDestroy();
    else if (step === CLOSE) socket.end();
    else if (!socket.write(step)) await waitForDrain(socket);
    // Each step is a separate write.
    else await nextTurn();
  }
}

function waitForDrain(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      socket.off('drain', finish);
      socket.off('close', finish);
      resolve();
    };
    socket.on('drain', finish);
    socket.on('close', finish);
  });
}

interface Received {
  readonly head: string;
  readonly body: string;
}

function readRequests(socket: Socket, take: (received: Received) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  socket.on('data', (data) => {
    bytes = Buffer.concat([bytes, data]);
    for (;;) {
      const headEnd = bytes.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const head = bytes.toString('latin1', 0, headEnd);
      const bodyStart = headEnd + 4;
      const end = bodyStart + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (bytes.length < end) return;
      const body = bytes.toString('utf8', bodyStart, end);
      bytes = bytes.subarray(end);
      take({ head, body });
    }
  });
}
