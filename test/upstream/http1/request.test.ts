import { createHash, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../../src/upstream/http1/encode-request.ts';
import { encodeOriginLines } from '../../../src/upstream/http1/encode-request.ts';
import { RequestWriter } from '../../../src/upstream/http1/request-writer.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { type Peer, startRawServer } from './start-raw-server.ts';
import { ask, GET, post, tell, useClient } from './use-client.ts';
import { waitUntilQuiet } from './wait-until-quiet.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const answer = (peer: Peer) => void peer.send(OK);
const LARGE_BYTES = 64 * 1024 * 1024;

describe('a request', () => {
  it('is written as it was given, with what the client adds', async () => {
    const server = await startRawServer({ onRequest: answer });
    const client = useClient(server.port);
    const headers = ['content-type', 'application/json', 'x-api-key', 's\xe9cret', 'x-empty', ''];
    await ask(client, { ...post('{"a":1}'), path: '/v1/messages?beta=true', headers });
    expect(server.peers[0]?.received()).toBe(
      `POST /v1/messages?beta=true HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\n` +
        'accept-encoding: identity\r\ncontent-type: application/json\r\nx-api-key: s\xe9cret\r\nx-empty: \r\n' +
        'content-length: 7\r\n\r\n{"a":1}',
    );
  });

  const hosts = [
    [{ protocol: 'http:', host: 'a.example', port: 80 }, 'a.example'],
    [{ protocol: 'https:', host: 'a.example', port: 443 }, 'a.example'],
    [{ protocol: 'https:', host: 'a.example', port: 80 }, 'a.example:80'],
    [{ protocol: 'http:', host: '::1', port: 8080 }, '[::1]:8080'],
  ] as const;
  for (const [origin, host] of hosts) {
    it(`to ${JSON.stringify(origin)} names the host ${host}`, () => {
      expect(encodeOriginLines(origin)).toContain(`\r\nhost: ${host}\r\n`);
    });
  }

  it('without a body has a length only where one is expected', async () => {
    const server = await startRawServer({ onRequest: answer });
    const client = useClient(server.port);
    await ask(client, GET);
    expect(server.peers[0]?.received()).not.toContain('content-length');
    await ask(client, { ...GET, method: 'POST' });
    expect(server.peers[0]?.received()).toContain('content-length: 0\r\n\r\n');
  });

  it('arrives whole when it is large, on a kept connection too', async () => {
    const server = await startRawServer({ onRequest: answer });
    const client = useClient(server.port);
    for (const bytes of [randomBytes(3_000_001), randomBytes(70_000)]) {
      await ask(client, post(bytes));
      const arrived = server.peers[0]?.received().slice(-bytes.length) ?? '';
      expect(digest(Buffer.from(arrived, 'latin1'))).toBe(digest(bytes));
    }
    expect(server.peers).toHaveLength(1);
  });

  it('arrives whole on a connection whose last request was refused after it was read', async () => {
    const statuses = ['404 Not Found', '200 OK'];
    const server = await startRawServer({
      onRequest: (peer) =>
        void peer.send(`HTTP/1.1 ${statuses.shift()}\r\ncontent-length: 2\r\n\r\nok`),
    });
    const client = useClient(server.port);
    expect((await ask(client, post('x'))).status()).toBe(404);
    expect((await ask(client, post(randomBytes(200_000)))).status()).toBe(200);
    expect(server.peers).toHaveLength(1);
  });

  const impossible: readonly [string, Partial<HttpRequest>][] = [
    ['a line break in a value', { headers: ['x-a', 'b\r\nx-c: d'] }],
    ['a line feed in a value', { headers: ['x-a', 'b\nx-c: d'] }],
    ['a zero byte in a value', { headers: ['x-a', 'b\0'] }],
    ['a value beyond ISO-8859-1', { headers: ['x-a', '\u20ac'] }],
    ['a name without a value', { headers: ['x-a'] }],
    ['an empty name', { headers: ['', 'b'] }],
    ['a colon in a name', { headers: ['x-a:', 'b'] }],
    ['a line break in a name', { headers: ['x-a\r\n', 'b'] }],
    ['a space in the path', { path: '/a b' }],
    ['a line break in the path', { path: '/\r\nx: y' }],
    ['a path that is a URL', { path: 'http://example.com/' }],
    ['a path beyond ASCII', { path: '/\xe9' }],
  ];
  for (const [what, part] of impossible) {
    it(`with ${what} is refused before anything is sent`, async () => {
      const server = await startRawServer();
      const client = useClient(server.port);
      expect(() => tell(client, { ...GET, ...part })).toThrow(/header|path/);
      tell(client, GET);
      await server.waitForRequests(1);
      expect(server.peers).toHaveLength(1);
    });
  }

  it('does not show the value that it refuses', () => {
    const headers = ['x-api-key', 'secret\n'];
    expect(() => useClient(1).send({ ...GET, headers }, IGNORE)).toThrow(/^(?!.*secret)/);
  });
});

describe('a small request', () => {
  it('is one write, head and body', () => {
    const written: string[] = [];
    const socket = new Writable({
      write(chunk: Buffer, _, done) {
        written.push(chunk.toString('latin1'));
        done();
      },
    });
    const writer = new RequestWriter(socket as unknown as Socket);
    writer.send('h\xe9ad', [Buffer.alloc(16_000, 'x'), Buffer.alloc(384, 'x')]);
    expect(written).toEqual([`h\xe9ad${'x'.repeat(16_384)}`]);
  });
});

describe('a request whose body the server does not read', () => {
  it('is sent only as far as the socket takes it', async () => {
    const written: number[] = [];
    let takeNext = () => {};
    const socket = new Writable({
      highWaterMark: 16_384,
      write(chunk: Buffer, _, done) {
        written.push(chunk.length);
        takeNext = done;
      },
    });
    const body = [new Uint8Array(100_000), new Uint8Array(900_000)];
    new RequestWriter(socket as unknown as Socket).send('head', body);
    expect(written).toEqual([4]);
    // One slice: the waiting bytes are bounded, however large the body is.
    expect(socket.writableLength).toBe(262_144);
    for (let i = 0; i < 3; i++) takeNext();
    await waitUntil(() => written.length > 3, 'the next slice is written');
    expect(written).toEqual([4, 100_000, 262_144 - 100_004, 262_144]);
    expect(socket.writableLength).toBe(262_144);
  });

  it('ends with an answer that comes early', async () => {
    const server = await startEarlyServer('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
    const client = useClient(server.port);
    const told = await ask(client, post(Buffer.alloc(LARGE_BYTES)));
    expect([told.status(), told.body(), told.events.at(-1)]).toEqual([413, 'no', 'end']);
    // Neither the rest of the body nor anything else is sent over this connection.
    server.peers[0]?.socket.resume();
    await waitUntil(() => server.peers[0]?.isClosed() === true, 'the connection is closed');
    expect(server.peers[0]?.received().length).toBeLessThan(LARGE_BYTES / 2);
  });

  it('is sent no further once the server has refused, even if its answer goes on', async () => {
    const server = await startEarlyServer('HTTP/1.1 400 No\r\ncontent-length: 2\r\n\r\n');
    const told = tell(useClient(server.port), post(Buffer.alloc(LARGE_BYTES)));
    await waitUntil(() => told.status() === 400, 'the head is emitted');
    const [peer] = server.peers;
    peer?.socket.resume();
    await waitUntilQuiet(() => peer?.received().length ?? 0);
    expect(peer?.received().length).toBeLessThan(LARGE_BYTES / 2);
    await peer?.send('no');
    await told.waitForOver();
    expect(told.body()).toBe('no');
    await waitUntil(() => peer?.isClosed() === true, 'the connection is closed');
  });

  it('is sent on while an answer that accepts it comes in', async () => {
    const server = await startEarlyServer('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n');
    const told = tell(useClient(server.port), post(Buffer.alloc(LARGE_BYTES)));
    await waitUntil(() => told.status() === 200, 'the head is emitted');
    const [peer] = server.peers;
    peer?.socket.resume();
    await server.waitForRequests(1);
    await peer?.send('ok');
    await told.waitForOver();
    expect(told.events).toEqual(['head', 'data', 'end']);
  });
});

const IGNORE = { onHead() {}, onData() {}, onEnd() {}, onFail() {} };

/** Answers when the first bytes of a request come, and reads no more of it. */
function startEarlyServer(early: string) {
  return startRawServer({
    onConnection: (peer) =>
      peer.socket.once('data', () => {
        peer.socket.pause();
        void peer.send(early);
      }),
  });
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
