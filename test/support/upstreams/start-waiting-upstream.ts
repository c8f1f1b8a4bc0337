import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { CleanUp } from '../create-temp-dir.ts';

/** One request that has arrived completely. The test decides what to answer, and when. */
export interface WaitingCall {
  readonly body: string;
  readonly res: ServerResponse;
  /** Whether its connection closed before its answer was complete. */
  isBrokenOff(): boolean;
}

export interface WaitingUpstream {
  readonly url: string;
  readonly calls: readonly WaitingCall[];
  /** The number of open connections, busy or idle. */
  openConnections(): number;
}

interface WaitingUpstreamOptions {
  readonly onCall?: (call: WaitingCall) => void;
  readonly cleanUp?: CleanUp;
}

/** An upstream that answers nothing by itself. */
export async function startWaitingUpstream({
  onCall = () => {},
  cleanUp = onTestFinished,
}: WaitingUpstreamOptions = {}): Promise<WaitingUpstream> {
  const calls: WaitingCall[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (req, res) => {
    let isBrokenOff = false;
    res.once('close', () => {
      isBrokenOff = !res.writableFinished;
    });
    const call = { body: await text(req), res, isBrokenOff: () => isBrokenOff };
    calls.push(call);
    onCall(call);
  });
  server.keepAliveTimeout = 0;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, calls, openConnections: () => sockets.size };
}
