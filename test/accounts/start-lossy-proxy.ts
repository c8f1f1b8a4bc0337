import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface LossyProxy {
  readonly port: number;
  /** Lets this many packets come back. The next packet is lost, and its connection with it. */
  loseReplyAfter(count: number): void;
  wasLost(): boolean;
  stop(): Promise<void>;
}

/** A proxy in front of a Redis that executes every command, although its replies may be lost. */
export async function startLossyProxy(redisPort: number): Promise<LossyProxy> {
  const sockets = new Set<Socket>();
  let replies = 0;
  let lostIndex = Number.POSITIVE_INFINITY;
  const server = createServer((client) => {
    const upstream = connect(redisPort, '127.0.0.1');
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', end);
    }
    client.pipe(upstream);
    upstream.on('data', (data) => {
      replies += 1;
      if (replies - 1 === lostIndex) end();
      else client.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    loseReplyAfter(count) {
      replies = 0;
      lostIndex = count;
    },
    wasLost: () => replies > lostIndex,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
