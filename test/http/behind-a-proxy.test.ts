import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proxyHeader } from '../support/clients/proxy-header.ts';
import { openRawConnection } from '../support/clients/raw-connection.ts';
import { type RunningProxy, startProxy } from '../support/servers/start-proxy.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Sends what src/docs/http-layer.md leaves to the proxy through real proxies. */
const HOST = 'Host: a\r\n';
const SMUGGLED = `GET /smuggled HTTP/1.1\r\n${HOST}\r\n`;
const CHUNKED = `POST /echo HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;

/** For each proxy, the status and what a handler receives. */
interface Outcome {
  readonly status: string;
  readonly handled: readonly string[];
}

const REFUSED: Outcome = { status: '400', handled: [] };
const MENDED: Outcome = { status: '200', handled: ['echo hello'] };

interface Vector {
  readonly bytes: string;
  /** Versions of a proxy differ. Each of these outcomes is safe. */
  readonly nginx: readonly Outcome[];
  readonly haproxy: readonly Outcome[];
}

const refusedByBoth = (bytes: string): Vector => ({ bytes, nginx: [REFUSED], haproxy: [REFUSED] });

const VECTORS: Readonly<Record<string, Vector>> = {
  'a header without a name that hides a length': refusedByBoth(
    `POST /echo HTTP/1.1\r\n${HOST}: b\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
  ),
  'a header without a name that hides chunks': refusedByBoth(
    `POST /echo HTTP/1.1\r\n${HOST}: b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ),
  'a chunk that is longer than its length': refusedByBoth(
    `${CHUNKED}5\r\nhello${SMUGGLED}0\r\n\r\n`,
  ),
  'a bare line feed after a chunk length': {
    bytes: `${CHUNKED}5\nhello\r\n0\r\n\r\n`,
    nginx: [MENDED],
    haproxy: [MENDED, REFUSED],
  },
  'a header of the PROXY protocol': refusedByBoth(
    `${proxyHeader('203.0.113.9')}GET /ok HTTP/1.1\r\n${HOST}\r\n`,
  ),
  'a space before the colon': refusedByBoth(`GET /ok HTTP/1.1\r\n${HOST}X-A : b\r\n\r\n`),
  'no Host': refusedByBoth('GET /ok HTTP/1.1\r\n\r\n'),
  'two lengths': refusedByBoth(
    `POST /echo HTTP/1.1\r\n${HOST}Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello`,
  ),
  'a length and an unknown encoding': {
    bytes: `POST /echo HTTP/1.1\r\n${HOST}Content-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello`,
    nginx: [{ status: '501', handled: [] }],
    haproxy: [REFUSED],
  },
  'a folded header': {
    bytes: `GET /ok HTTP/1.1\r\n${HOST}X-A: b\r\n c\r\n\r\n`,
    nginx: [REFUSED],
    haproxy: [{ status: '200', handled: ['ok'] }],
  },
  'NUL in a value': {
    bytes: `GET /ok HTTP/1.1\r\n${HOST}X-A: b\0c\r\n\r\n`,
    nginx: [REFUSED],
    // This proxy passes the byte on to uWS, which answers 400 or closes the connection, depending
    // on its build.
    haproxy: [REFUSED, { status: '502', handled: [] }],
  },
};

describe.concurrent.each(['nginx', 'haproxy'] as const)('behind %s', (kind) => {
  let target: TestServer;
  let proxy: RunningProxy;
  const handled: string[] = [];

  beforeAll(async () => {
    target = await startTestServer({
      'GET /ok': (exchange) => {
        handled.push('ok');
        exchange.answerJson(200, {});
      },
      'GET /smuggled': (exchange) => {
        handled.push('SMUGGLED');
        exchange.answerJson(200, {});
      },
      'POST /echo': async (exchange) => {
        const body = await exchange.body();
        handled.push(`echo ${body.toString('latin1')}`);
        exchange.answer({ status: 200, headers: {} }, body);
      },
    });
    proxy = await startProxy(kind, target.port);
  });
  afterAll(async () => {
    await proxy.stop();
    target.server.close();
  });

  const ask = async (bytes: string) => {
    handled.length = 0;
    const connection = await openRawConnection(proxy.port);
    connection.send(Buffer.from(bytes, 'latin1'));
    await waitUntil(() => connection.isClosed() || connection.received() !== '', 'it is answered');
    connection.destroy();
    return { status: /^HTTP\/1\.1 (\d+)/.exec(connection.received())?.[1], handled: [...handled] };
  };

  it.sequential.each(Object.entries(VECTORS))('nothing is smuggled: %s', async (_name, vector) => {
    expect(vector[kind]).toContainEqual(await ask(vector.bytes));
  });

  it.sequential('a connection that was idle for longer than uWS keeps it costs no request', async () => {
    const client = new Client(`http://127.0.0.1:${proxy.port}`, { keepAliveTimeout: 60_000 });
    for (let i = 0; i < 2; i++) {
      const { statusCode, body } = await client.request({
        method: 'POST',
        path: '/echo',
        body: 'hello',
      });
      expect(statusCode).toBe(200);
      expect(await body.text()).toBe('hello');
      if (i === 0) await sleep(13_000);
    }
    await client.close();
  });
});
