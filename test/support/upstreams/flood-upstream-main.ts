import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventsOf, type FloodFormat, type FloodOrder, parseFloodOrder } from './flood-events.ts';

/** One stream, as its upstream sees it. */
export interface FloodCall {
  readonly remotePort: number;
  readonly localPort: number;
  /**
   * The bytes that the system took from this process, without a write that it has taken only in
   * part.
   */
  readonly acceptedBytes: number;
  readonly isOpen: boolean;
}

const WRITE_BYTES = 16 * 1024;

/** A connection carries one call after the other, and counts the bytes of all calls. */
interface RunningCall {
  readonly socket: Socket;
  readonly sides: { readonly localPort: number; readonly remotePort: number };
  readonly earlierBytes: number;
}

const calls: RunningCall[] = [];
let isFinishing = false;
let held: Promise<void> | undefined;
let release = () => {};

const COMMANDS: Readonly<Record<string, () => void>> = {
  '/hold': () => {
    held = new Promise((resolve) => {
      release = resolve;
    });
  },
  '/release': () => release(),
  '/finish': () => {
    isFinishing = true;
  },
};

/** Writes as much as the socket takes, until everything is sent or it is told to finish. */
async function flood(res: ServerResponse, format: FloodFormat, order: FloodOrder): Promise<void> {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = eventsOf(format);
  res.write(events.begin());
  await held;
  let count = 0;
  let goOn = () => {};
  res.on('drain', () => goOn());
  res.on('close', () => goOn());
  const isDone = () => count >= order.eventsMax || isFinishing || res.destroyed;
  while (!isDone()) {
    let batch = '';
    do batch += events.say(count++, order.textBytes);
    while (batch.length < WRITE_BYTES && !isDone());
    if (!res.write(batch) && !res.destroyed) {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    }
  }
  res.end(events.end(count));
}

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.url === '/calls') {
    const told = calls.map(({ socket, sides, earlierBytes }): FloodCall => {
      const acceptedBytes = socket.bytesWritten - socket.writableLength - earlierBytes;
      return { ...sides, acceptedBytes, isOpen: !socket.destroyed };
    });
    res.end(JSON.stringify(told));
    return;
  }
  const command = COMMANDS[req.url ?? ''];
  if (command !== undefined) {
    command();
    res.end();
    return;
  }
  const order = parseFloodOrder(await text(req));
  const { socket } = req;
  const sides = { localPort: socket.localPort ?? 0, remotePort: socket.remotePort ?? 0 };
  calls.push({ socket, sides, earlierBytes: socket.bytesWritten });
  await flood(res, req.url === '/v1/messages' ? 'native' : 'chat', order);
}

const server = createServer((req, res) => {
  answer(req, res).catch((error) => {
    console.error(error);
    res.destroy();
  });
});
// A request at the very moment of the keep-alive time-out would lose its connection.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.once('disconnect', () => process.exit());
