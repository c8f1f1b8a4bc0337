import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Relay {
  readonly port: number;
  /** The number of lost replies so far. */
  readonly lostReplies: number;
  /** Affects new connections. Open connections are cut. */
  pointTo(port: number): void;
  /**
   * In place of every `every`-th reply, the client's connection breaks, until `count` replies are
   * lost.
   */
  loseReplies(options: { readonly every: number; readonly count: number }): void;
}

/**
 * Passes bytes on to a Redis server. The server executes commands whose replies the client may
 * never receive.
 */
export async function startRelay(targetPort: number): Promise<Relay> {
  let target = targetPort;
  let replies = 0;
  let lostReplies = 0;
  let loss = { every: 1, count: 0 };
  const sockets = new Set<Socket>();

  const isLost = () => {
    replies++;
    if (lostReplies >= loss.count || replies % loss.every !== 0) return false;
    lostReplies++;
    return true;
  };

  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes) => {
      if (isLost()) cut();
      else client.write(bytes);
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    cutAll();
  });
  return {
    port: (server.address() as AddressInfo).port,
    get lostReplies() {
      return lostReplies;
    },
    pointTo(port) {
      target = port;
      cutAll();
    },
    loseReplies(options) {
      loss = options;
    },
  };
}
