import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A way to Redis that loses, delays or slows down its replies. */
export interface TcpProxy {
  readonly port: number;
  /** From now on, every reply is that late. */
  delay(delayMs: number): void;
  /** From now on, replies of one connection pass at this rate; 0 is no bound. */
  throttle(bytesPerS: number): void;
  /** The next reply of each connection is lost, and the connection ends: the command was run. */
  cutReplies(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<{ readonly client: Socket; mustCut: boolean }>();
  let [delayMs, bytesPerS] = [0, 0];

  const server = createServer((client) => {
    const redis = connect(targetPort, '127.0.0.1');
    const pair = { client, mustCut: false };
    pairs.add(pair);
    // Replies pass one after the other, so that none overtakes another.
    let turn = Promise.resolve();
    const pass = async (bytes: Buffer, dueMs: number) => {
      if (bytesPerS > 0) await sleep((bytes.length / bytesPerS) * 1_000);
      await sleep(Math.max(0, dueMs - performance.now()));
      if (client.writable) client.write(bytes);
    };
    redis.on('data', (bytes) => {
      if (pair.mustCut) {
        client.destroy();
        redis.destroy();
        return;
      }
      const dueMs = performance.now() + delayMs;
      if (delayMs === 0 && bytesPerS === 0) turn = turn.then(() => void client.write(bytes));
      else turn = turn.then(() => pass(bytes, dueMs));
    });
    client.pipe(redis);
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => {
        pairs.delete(pair);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    delay: (eachMs) => {
      delayMs = eachMs;
    },
    throttle: (rate) => {
      bytesPerS = rate;
    },
    cutReplies: () => {
      for (const pair of pairs) pair.mustCut = true;
    },
    async close() {
      for (const { client } of pairs) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
