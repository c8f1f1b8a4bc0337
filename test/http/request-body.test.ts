import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRawConnection } from '../support/clients/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const KIB = 1024;
const BODY_BYTES_MAX = 256 * KIB;

let target: TestServer;
let aborted = 0;

beforeAll(async () => {
  target = await startTestServer(
    {
      'GET /hello': (exchange) => exchange.answerJson(200, { hello: 'world' }),
      'POST /echo': async (exchange) => {
        const body = await exchange.body();
        exchange.answer({ status: 200, headers: { 'content-type': 'text/plain' } }, body);
      },
      'POST /refuses': (exchange) => exchange.answerJson(401, { refused: true }),
      'POST /waits': async (exchange) => {
        await exchange.body();
        await new Promise((resolve) =>
          exchange.signal.addEventListener('abort', () => resolve(undefined)),
        );
        aborted++;
        exchange.answerJson(200, { tooLate: true });
      },
    },
    { bodyBytesMax: BODY_BYTES_MAX },
  );
});
afterAll(() => target.server.close());

const post = (path: string, body: Uint8Array | string) =>
  fetch(`${target.url}${path}`, { method: 'POST', body });

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
    await connection.waitFor(/hello world\r\n0\r\n/);
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
    const before = aborted;
    connection.send('POST /waits HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
    await waitUntil(() => target.server.activeExchanges === 1, 'the request has arrived');
    connection.destroy();
    await waitUntil(() => aborted === before + 1, 'the signal is aborted');
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
