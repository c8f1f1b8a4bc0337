import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { ConnectionExchange } from '../../../src/upstream/http1/connection-exchange.ts';
import {
  type ConnectionOwner,
  HttpConnection,
} from '../../../src/upstream/http1/http-connection.ts';
import type { SocketListener } from '../../../src/upstream/http1/open-socket.ts';
import { GET } from './use-client.ts';

it('bytes that a paused socket still delivers are emitted in their order when it is resumed', () => {
  const listeners: SocketListener[] = [];
  const owner: ConnectionOwner = {
    openSocket: (listener) => {
      listeners.push(listener);
      return new Duplex({ read() {}, write: (_, __, done) => done() }) as unknown as Socket;
    },
    connectTimeoutMs: 20_000,
    onIdle: () => {},
    onGone: () => {},
    repeat: () => {},
    clock: { nowMs: () => 0 },
  };
  const told: string[] = [];
  const exchange = new ConnectionExchange({
    request: GET,
    head: 'GET / HTTP/1.1\r\n\r\n',
    handler: {
      onHead: () => exchange.pause(),
      onData: (chunk) => told.push(Buffer.from(chunk).toString()),
      onEnd: () => told.push('end'),
      onFail: ({ kind }) => told.push(kind),
    },
  });
  exchange.connection = new HttpConnection(owner, exchange);
  const [listener] = listeners;
  listener?.onConnect();
  listener?.onReady();
  listener?.onBytes(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\none'));
  listener?.onBytes(Buffer.from('two'));
  listener?.onBytes(Buffer.from('end'));
  expect(told).toEqual([]);
  exchange.resume();
  expect(told).toEqual(['onetwoend', 'end']);
});
