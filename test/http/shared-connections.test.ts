import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRawConnection } from '../support/clients/raw-connection.ts';
import { type ProxyKind, type RunningProxy, startProxy } from '../support/servers/start-proxy.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const CHUNKED =
  'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n';
const SMUGGLED = 'GET /smuggled HTTP/1.1';

/** Each request leaves other bytes after the two that a server may take for the end of the body. */
const TRAILERS = [
  `X:${SMUGGLED}\r\nHost: a\r\n\r\n`,
  'X-Trailer: 1\r\n\r\n',
  'GET: /smuggled\r\n\r\n',
  `${'T'.repeat(200)}: ${'x'.repeat(2_000)}\r\n\r\n`,
  'A:\r\nB:\r\nContent-Length: 100\r\n\r\n',
];
const CUSTOMERS = 8;
const REQUESTS_EACH = 60;
const ATTACKS = 40;

/** Every request opens its own connection, so that the proxy decides which requests share one. */
function ask(port: number, mark: string): Promise<string> {
  return new Promise((resolve) => {
    const headers = { 'content-length': mark.length };
    const options = { port, host: '127.0.0.1', path: '/echo', method: 'POST', headers };
    const request = httpRequest({ ...options, agent: false }, (response) => {
      let text = '';
      response.on('data', (data) => {
        text += data;
      });
      response.on('end', () => resolve(`${response.statusCode} ${text}`));
      response.on('error', (error) => resolve(String(error)));
    });
    request.on('error', (error) => resolve(String(error)));
    request.end(mark);
  });
}

/** The first request makes even the careful proxy send the second on a shared connection. */
async function attack(port: number, trailer: string): Promise<void> {
  const connection = await openRawConnection(port);
  connection.send('GET /ok HTTP/1.1\r\nHost: a\r\n\r\n');
  await connection.waitFor(/HTTP\/1\.1 200[\s\S]*\{\}/);
  connection.send(`${CHUNKED}0\r\n${trailer}`);
  await waitUntil(
    () => connection.isClosed() || /(HTTP\/1\.1 [\s\S]*){2}/.test(connection.received()),
    'the attack is answered',
  );
  connection.destroy();
}

const PROXIES: readonly ProxyKind[] = [
  'haproxy',
  'haproxy with reuse safe',
  'nginx',
  'nginx that passes chunks on',
];

describe.each(PROXIES)('behind %s', (kind) => {
  let target: TestServer;
  let proxy: RunningProxy;
  const handled: string[] = [];

  beforeAll(async () => {
    target = await startTestServer({
      'GET /ok': (exchange) => exchange.answerJson(200, {}),
      'GET /smuggled': (exchange) => {
        handled.push('SMUGGLED');
        exchange.answerJson(200, {});
      },
      'POST /echo': async (exchange) => {
        const body = await exchange.body();
        handled.push('echo');
        exchange.answer({ status: 200, headers: {} }, body);
      },
    });
    proxy = await startProxy(kind, target.port);
  });
  afterAll(async () => {
    await proxy.stop();
    target.server.close();
  });

  it('a stranger who ends bodies in trailers spoils no answer of the others', async () => {
    const wrong: string[] = [];
    const customers = Array.from({ length: CUSTOMERS }, async () => {
      for (let i = 0; i < REQUESTS_EACH; i++) {
        const mark = randomUUID();
        const answer = await ask(proxy.port, mark);
        if (answer !== `200 ${mark}`) wrong.push(answer);
      }
    });
    for (let i = 0; i < ATTACKS; i++) {
      await attack(proxy.port, TRAILERS[i % TRAILERS.length] as string);
    }
    await Promise.all(customers);
    expect(wrong).toEqual([]);
    expect(handled).not.toContain('SMUGGLED');
  });
});
