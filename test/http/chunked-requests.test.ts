import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/http/exchange.ts';
import { openRawConnection } from '../support/clients/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const HEAD = 'Host: a\r\nTransfer-Encoding: chunked\r\n';
const HELLO = '5\r\nhello\r\n';
const END = '0\r\n\r\n';
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const LARGE_BYTES = 5_000_000;
const STREAM_HEAD = { status: 200, headers: { 'content-type': 'text/event-stream' } };

let target: TestServer;
const handled: string[] = [];
let goOn: () => void = () => {};

const handlers = {
  'GET /smuggled': (exchange: Exchange) => exchange.answerJson(200, { smuggled: true }),
  'GET /ok': (exchange: Exchange) => exchange.answerJson(200, { ok: true }),
  'POST /ok': async (exchange: Exchange) => {
    const body = await exchange.body();
    exchange.answerJson(200, { body: body.toString('latin1') });
  },
  'POST /unread': (exchange: Exchange) => exchange.answerJson(401, { refused: true }),
  'POST /empty': async (exchange: Exchange) => {
    await exchange.body();
    exchange.answer({ status: 200, headers: {} }, '');
  },
  'POST /large': async (exchange: Exchange) => {
    await exchange.body();
    exchange.answer({ status: 200, headers: {} }, Buffer.alloc(LARGE_BYTES, 'x'));
  },
  'POST /stream': async (exchange: Exchange) => {
    await exchange.body();
    const stream = exchange.startStream(STREAM_HEAD);
    await stream.write('data: 1\n\n');
    await stream.write('data: 2\n\n');
    stream.endStream();
  },
  'POST /waits': async (exchange: Exchange) => {
    await exchange.body();
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    exchange.answerJson(200, { waited: true });
  },
};

beforeAll(async () => {
  const noted = Object.entries(handlers).map(([name, handle]) => [
    name,
    (exchange: Exchange) => {
      handled.push(name);
      return handle(exchange);
    },
  ]);
  target = await startTestServer(Object.fromEntries(noted), { bodyTimeMaxMs: 2_000 });
});
afterAll(() => target.server.close());
beforeEach(() => {
  handled.length = 0;
});

const ANSWERS = {
  'one with a body': ['POST /ok', 200, /\{"body":"hello"\}/],
  'one that was given before the body was read': ['POST /unread', 401, /\{"refused":true\}/],
  'an empty one': ['POST /empty', 200, /content-length: 0\r\n\r\n/],
  'a large one': ['POST /large', 200, /xxx\r\n0\r\n/],
  'a stream': ['POST /stream', 200, /data: 1\n\n\r\n[\s\S]*data: 2\n\n\r\n0\r\n/],
  'one to GET': ['GET /ok', 200, /\{"ok":true\}/],
  'one to HEAD': ['HEAD /ok', 200, /content-length: 11\r\n\r\n$/],
  'an unknown path': ['POST /nowhere', 404, /unknown_url/],
  'a method that is not taken': ['DELETE /ok', 405, /method_not_supported/],
} as const;

describe('an answer to a request in chunks', () => {
  for (const [name, [target_, status, pattern]] of Object.entries(ANSWERS)) {
    it(`ends its connection, of which no later request is taken: ${name}`, async () => {
      const connection = await openRawConnection(target.port);
      connection.send(`${target_} HTTP/1.1\r\n${HEAD}\r\n${HELLO}${END}`);
      await connection.waitFor(pattern);
      connection.send(SMUGGLED);
      await connection.waitForClose();
      expect(connection.received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(connection.received()).toMatch(/\r\nconnection: close\r\n/i);
      expect(connection.received().match(/HTTP\/1\.1/g)).toHaveLength(1);
      expect(handled).not.toContain('GET /smuggled');
    });

    it(`is followed by nothing that came in the same packet: ${name}`, async () => {
      const connection = await openRawConnection(target.port);
      connection.send(`${target_} HTTP/1.1\r\n${HEAD}\r\n${HELLO}${END}${SMUGGLED}`);
      await connection.waitForClose();
      expect(handled).not.toContain('GET /smuggled');
    });

    it(`is followed by no trailer that is a request: ${name}`, async () => {
      const connection = await openRawConnection(target.port);
      connection.send(`${target_} HTTP/1.1\r\n${HEAD}\r\n${HELLO}0\r\n`);
      connection.send(`X:${SMUGGLED}`);
      await connection.waitForClose();
      expect(handled).not.toContain('GET /smuggled');
    });
  }

  it('ends its connection by itself, when its client waits for that', async () => {
    const connection = await openRawConnection(target.port);
    connection.send(`POST /ok HTTP/1.1\r\n${HEAD}\r\n${HELLO}${END}`);
    await connection.waitForClose();
    expect(connection.received()).toMatch(/\{"body":"hello"\}\r\n0\r\nx-tollgate-end: 1\r\n\r\n$/);
  });

  it('is followed by no request while its client has not read it', async () => {
    const connection = await openRawConnection(target.port);
    connection.socket.pause();
    connection.send(`POST /large HTTP/1.1\r\n${HEAD}\r\n${HELLO}${END}`);
    await waitUntil(() => handled.includes('POST /large'), 'it is asked');
    connection.send(SMUGGLED);
    connection.socket.resume();
    await connection.waitForClose();
    expect(handled).toEqual(['POST /large']);
  });

  it('that is given up for its time ends its connection too', async () => {
    const connection = await openRawConnection(target.port);
    connection.send(`POST /ok HTTP/1.1\r\n${HEAD}\r\n${HELLO}`);
    await connection.waitFor(/^HTTP\/1\.1 408 /);
    connection.send(`${END}${SMUGGLED}`);
    await connection.waitForClose();
    expect(handled).toEqual(['POST /ok']);
  });

  it('comes whole to real clients, which open a new connection for what is next', async () => {
    const ends: (string | undefined)[] = [];
    for (const path of ['/ok', '/large', '/stream', '/empty']) {
      const text = await new Promise<string>((resolve, reject) => {
        const request = httpRequest(`${target.url}${path}`, { method: 'POST' }, (response) => {
          let text = '';
          response.on('data', (data) => {
            text += data;
          });
          response.on('end', () => {
            ends.push(response.trailers['x-tollgate-end']);
            return response.complete ? resolve(text) : reject(new Error(path));
          });
        });
        request.on('error', reject);
        request.write('hel');
        request.end('lo');
      });
      if (path === '/ok') expect(JSON.parse(text)).toEqual({ body: 'hello' });
      if (path === '/large') expect(text).toHaveLength(LARGE_BYTES);
      if (path === '/stream') expect(text).toBe('data: 1\n\ndata: 2\n\n');
      if (path === '/empty') expect(text).toBe('');
    }
    // An empty answer has no chunks that could end.
    expect(ends).toEqual(['1', '1', '1', undefined]);
  });

  it('leaves no exchange behind, whoever closes first', async () => {
    const connection = await openRawConnection(target.port);
    connection.send(`POST /waits HTTP/1.1\r\n${HEAD}\r\n${HELLO}${END}`);
    await waitUntil(() => handled.includes('POST /waits'), 'it is asked');
    goOn();
    await connection.waitFor(/waited/);
    connection.destroy();
    await waitUntil(() => target.server.activeExchanges === 0, 'all have ended');
    expect((await fetch(`${target.url}/ok`)).status).toBe(200);
  });
});

const UNCLEAR = {
  'chunked twice': 'Transfer-Encoding: chunked, chunked\r\n',
  'two transfer encodings': 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
  'a length before': 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
  'a length behind': 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n',
  'a folded line': 'Transfer-Encoding:\r\n chunked\r\n',
} as const;

describe('a request in chunks', () => {
  it.each(Object.entries(UNCLEAR))('is refused where it is unclear: %s', async (_name, lines) => {
    const connection = await openRawConnection(target.port);
    connection.send(`POST /ok HTTP/1.1\r\nHost: a\r\n${lines}\r\n${HELLO}${END}${SMUGGLED}`);
    await connection.waitForClose();
    expect(handled).toEqual([]);
  });

  it.each([
    ['capitals', 'Transfer-Encoding: CHUNKED\r\n'],
    ['Expect', 'Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n'],
  ])('is read, and ends its connection, with %s', async (_name, lines) => {
    const connection = await openRawConnection(target.port);
    connection.send(`POST /ok HTTP/1.1\r\nHost: a\r\n${lines}\r\n${HELLO}${END}`);
    await connection.waitFor(/\{"body":"hello"\}/);
    connection.send(SMUGGLED);
    await connection.waitForClose();
    expect(handled).toEqual(['POST /ok']);
  });

  it('runs no request behind a chunk extension, be it read or refused as the build goes', async () => {
    const connection = await openRawConnection(target.port);
    connection.send(`POST /ok HTTP/1.1\r\n${HEAD}\r\n5;a=b\r\nhello\r\n${END}${SMUGGLED}`);
    await connection.waitForClose();
    expect(handled).not.toContain('GET /smuggled');
  });

  it('takes nothing from the keep-alive of those with a length', async () => {
    const connection = await openRawConnection(target.port);
    for (let i = 1; i <= 3; i++) {
      connection.send('POST /ok HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello');
      await connection.waitFor(new RegExp(`(HTTP/1\\.1 200[\\s\\S]*"hello"\\}){${i}}$`));
    }
    expect(connection.received()).not.toMatch(/connection: close/i);
    expect(connection.isClosed()).toBe(false);
    connection.destroy();
  });
});
