import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/http/exchange.ts';
import { openRawConnection } from '../support/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const KIB = 1024;
const BODY_BYTES_MAX = 256 * KIB;

let target: TestServer;
const aborted: string[] = [];
let tellClientHasHead: () => void;
const clientHasHead = new Promise<void>((resolve) => {
  tellClientHasHead = resolve;
});

async function echo(exchange: Exchange): Promise<void> {
  const body = await exchange.body();
  exchange.answer({ status: 200, headers: { 'content-type': 'text/plain' } }, body);
}

beforeAll(async () => {
  target = await startTestServer(
    {
      'GET /hello': (exchange) => exchange.answerJson(200, { hello: 'world' }),
      'GET /peer': (exchange) => exchange.answerJson(200, { peer: exchange.peerAddress }),
      'GET /large': (exchange) =>
        exchange.answer({ status: 200, headers: {} }, Buffer.alloc(5_000_000, 'x')),
      'GET /throws': () => {
        throw new Error('secret detail');
      },
      'GET /rejects': async () => {
        await Promise.resolve();
        throw new Error('secret detail');
      },
      'GET /forgets': () => {},
      'GET /forgets-later': async () => {
        await Promise.resolve();
      },
      'GET /never': () => new Promise(() => {}),
      'GET /throws-midway': async (exchange) => {
        await exchange.startStream({ status: 200, headers: {} }).write('half of ');
        await clientHasHead;
        throw new Error('secret detail');
      },
      'GET /injects': (exchange) =>
        exchange.answer({ status: 200, headers: { 'x-model': 'a\r\nx-injected: 1\u0000b' } }, ''),
      'GET /twice': (exchange) => {
        exchange.answerJson(200, { first: true });
        exchange.answerJson(200, { second: true });
      },
      'POST /echo': echo,
      'POST /refuses': (exchange) => exchange.answerJson(401, { refused: true }),
      'POST /waits': async (exchange) => {
        await exchange.body();
        exchange.signal.addEventListener('abort', () => aborted.push(exchange.requestId));
        await new Promise((resolve) => exchange.signal.addEventListener('abort', resolve));
        exchange.answerJson(200, { tooLate: true });
      },
    },
    { bodyBytesMax: BODY_BYTES_MAX },
    2_000,
  );
});
afterAll(() => target.server.close());

const post = (path: string, body: Uint8Array | string) =>
  fetch(`${target.url}${path}`, { method: 'POST', body });

describe('an answer', () => {
  it('carries the same id in both request id headers, a date and no product header', async () => {
    const response = await fetch(`${target.url}/hello`);
    expect(await response.json()).toEqual({ hello: 'world' });
    expect(response.headers.get('request-id')).toMatch(/^req_[0-9A-Za-z]{24}$/);
    expect(response.headers.get('x-request-id')).toBe(response.headers.get('request-id'));
    expect(Date.parse(response.headers.get('date') ?? '')).not.toBeNaN();
    expect([...response.headers.keys()].sort()).toEqual([
      'content-length',
      'content-type',
      'date',
      'request-id',
      'x-request-id',
    ]);
  });

  it('has another id each time', async () => {
    const ids = new Set<string | null>();
    for (let i = 0; i < 50; i++)
      ids.add((await fetch(`${target.url}/hello`)).headers.get('request-id'));
    expect(ids.size).toBe(50);
  });

  it('arrives whole when it is large', async () => {
    const text = await (await fetch(`${target.url}/large`)).text();
    expect(text).toHaveLength(5_000_000);
    expect(text).toMatch(/^x+$/);
  });

  it('to HEAD has the headers of GET and no body', async () => {
    const connection = await openRawConnection(target.port);
    connection.send(
      'HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n',
    );
    await connection.waitFor(/"world"\}$/);
    expect(connection.received().match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
    expect(connection.received().match(/content-length: 17/gi)).toHaveLength(2);
    expect(connection.received().match(/world/g)).toHaveLength(1);
    connection.destroy();
  });

  it('lets no header value break out of its line', async () => {
    const response = await fetch(`${target.url}/injects`);
    expect(response.headers.get('x-model')).toBe('ax-injected: 1b');
    expect(response.headers.get('x-injected')).toBeNull();
  });

  it('is given once, however often the handler answers', async () => {
    expect(await (await fetch(`${target.url}/twice`)).json()).toEqual({ first: true });
  });

  it('knows the address of its peer', async () => {
    expect(await (await fetch(`${target.url}/peer`)).json()).toEqual({ peer: '127.0.0.1' });
  });
});

describe('an unknown request', () => {
  it('gets 404 in a body that both families of clients can read', async () => {
    const response = await fetch(`${target.url}/nowhere?x=1`);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      type: 'error',
      error: {
        type: 'not_found_error',
        message: 'There is nothing at GET /nowhere.',
        param: null,
        code: 'unknown_url',
      },
      request_id: response.headers.get('request-id'),
    });
  });

  it('gets 405 and the allowed methods when only the method is wrong', async () => {
    const response = await fetch(`${target.url}/hello`, { method: 'DELETE' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
    expect(await response.json()).toMatchObject({ error: { code: 'method_not_supported' } });
  });

  it('finds its route whatever the query is', async () => {
    expect((await fetch(`${target.url}/hello?beta=true&x=%00`)).status).toBe(200);
  });
});

describe('a broken handler', () => {
  const expectFault = async (path: string) => {
    const response = await fetch(`${target.url}${path}`);
    expect(response.status).toBe(500);
    const body = await response.json();
    expect(body).toMatchObject({ error: { type: 'api_error', message: 'Internal server error' } });
    expect(JSON.stringify(body)).not.toContain('secret');
    const line = target.log.lines.find(
      (each) => each.fields['requestId'] === response.headers.get('request-id'),
    );
    expect(line).toMatchObject({ level: 'error', fields: { path } });
    expect((await fetch(`${target.url}/hello`)).status).toBe(200);
  };

  it('that throws costs a 500 and a log line, not the process', () => expectFault('/throws'));
  it('that rejects costs a 500 and a log line', () => expectFault('/rejects'));
  it('that forgets to answer costs a 500 and a log line', () => expectFault('/forgets'));
  it('that forgets to answer later costs a 500 and a log line', () =>
    expectFault('/forgets-later'));

  it('that never answers is answered for with 504', async () => {
    const response = await fetch(`${target.url}/never`);
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { type: 'timeout_error' } });
  });

  it('that fails in the middle of a stream has its connection cut, so that nobody takes it for complete', async () => {
    const response = await fetch(`${target.url}/throws-midway`);
    tellClientHasHead();
    await expect(response.text()).rejects.toThrow();
  });
});

describe('a request body', () => {
  it('arrives byte for byte, whatever its size up to the limit', async () => {
    for (const size of [0, 1, 1_000, 16 * KIB, 16 * KIB + 1, 100_000, BODY_BYTES_MAX]) {
      const sent = Buffer.from(Array.from({ length: size }, (_, i) => i % 251));
      const response = await post('/echo', sent);
      expect(response.status, `${size} bytes`).toBe(200);
      expect(Buffer.from(await response.arrayBuffer()).equals(sent), `${size} bytes`).toBe(true);
    }
  });

  it('may come in chunks', async () => {
    const connection = await openRawConnection(target.port);
    connection.send('POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (const piece of ['5\r\nhel', 'lo\r\n', '1', '\r\n \r\n5\r\nworld\r\n0\r\n\r\n']) {
      connection.send(piece);
    }
    await connection.waitFor(/hello world$/);
    connection.destroy();
  });

  it('is asked for with 100 Continue when the client waits for that', async () => {
    const answer = await new Promise<{ continued: boolean; text: string }>((resolve, reject) => {
      let continued = false;
      const request = httpRequest(`${target.url}/echo`, {
        method: 'POST',
        headers: { expect: '100-continue', 'content-length': 5 },
      });
      request.on('continue', () => {
        continued = true;
        request.end('hello');
      });
      request.on('error', reject);
      request.on('response', (response) => {
        let text = '';
        response.on('data', (data) => {
          text += data;
        });
        response.on('end', () => resolve({ continued, text }));
      });
      request.flushHeaders();
    });
    expect(answer).toEqual({ continued: true, text: 'hello' });
  });

  it('over the limit gets 413 that clients can read, announced or not', async () => {
    const tooLarge = new Uint8Array(BODY_BYTES_MAX + 1);
    const chunked = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(tooLarge);
        controller.close();
      },
    });
    const announced = await post('/echo', tooLarge);
    const unannounced = await fetch(`${target.url}/echo`, {
      method: 'POST',
      body: chunked,
      duplex: 'half',
    } as RequestInit);
    for (const response of [announced, unannounced]) {
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({
        error: {
          type: 'request_too_large',
          message: `The request body is too large: at most ${BODY_BYTES_MAX} bytes are accepted.`,
        },
      });
    }
  });

  it('of 20 MB over the limit still lets every client read the 413', async () => {
    const statuses = await Promise.all(
      Array.from(
        { length: 10 },
        async () => (await post('/echo', new Uint8Array(20_000_000))).status,
      ),
    );
    expect(statuses).toEqual(Array(10).fill(413));
  });

  it('is read to its end before an early refusal goes out', async () => {
    const connection = await openRawConnection(target.port);
    connection.send('POST /refuses HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345');
    await waitUntil(() => target.server.activeExchanges > 0, 'the request has arrived');
    expect(connection.received()).toBe('');
    connection.send('67890');
    await connection.waitFor(/"refused":true\}$/);
    expect(connection.received()).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/);
    connection.send('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
    await connection.waitFor(/"world"\}$/);
    connection.destroy();
  });

  it('gives its memory back when the exchange is over', async () => {
    await post('/echo', new Uint8Array(BODY_BYTES_MAX));
    await post('/echo', new Uint8Array(BODY_BYTES_MAX + 1));
    await waitUntil(() => target.server.heldBodyBytes === 0, 'no body is held');
  });
});

describe('a client that leaves', () => {
  it('aborts the signal of its exchange', async () => {
    const connection = await openRawConnection(target.port);
    const before = aborted.length;
    connection.send('POST /waits HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
    await waitUntil(() => target.server.activeExchanges === 1, 'the request has arrived');
    connection.destroy();
    await waitUntil(() => aborted.length === before + 1, 'the signal is aborted');
    await waitUntil(() => target.server.activeExchanges === 0, 'the exchange is over');
    expect((await fetch(`${target.url}/hello`)).status).toBe(200);
  });

  it('in the middle of its upload leaves nothing behind', async () => {
    const connection = await openRawConnection(target.port);
    connection.send(`POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY_BYTES_MAX}\r\n\r\n`);
    connection.send(new Uint8Array(100_000));
    await waitUntil(() => target.server.heldBodyBytes > 0, 'a part of the body is held');
    connection.destroy();
    await waitUntil(() => target.server.heldBodyBytes === 0, 'its memory is given back');
    await waitUntil(() => target.server.activeExchanges === 0, 'the exchange is over');
    expect(target.log.lines.filter((line) => line.fields['path'] === '/echo')).toEqual([]);
  });
});
