import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { DEFAULT_HTTP_LIMITS } from '../../src/http/http-limits.ts';
import { loadUws } from '../../src/http/load-uws.ts';
import { startServer } from '../../src/http/start-server.ts';
import { openRawConnection } from '../support/clients/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const HOUR_MS = 3_600_000;

let target: TestServer;
let tellClientHasHead: () => void;
const clientHasHead = new Promise<void>((resolve) => {
  tellClientHasHead = resolve;
});

beforeAll(async () => {
  target = await startTestServer({
    'GET /hello': (exchange) => exchange.answerJson(200, { hello: 'world' }),
    'GET /peer': (exchange) => exchange.answerJson(200, { peer: exchange.peerAddress }),
    'GET /headers': (exchange) =>
      exchange.answerJson(200, {
        lists: ['anthropic-beta', 'x-forwarded-for'].map((name) => exchange.header(name)),
        others: ['anthropic-version', 'x-user', 'x-none'].map((name) => exchange.header(name)),
      }),
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
    'GET /twice-large': (exchange) => {
      exchange.answer({ status: 200, headers: {} }, Buffer.alloc(5_000_000, 'x'));
      exchange.answerJson(200, { second: true });
    },
  });
});
afterAll(() => target.server.close());

describe('a request', () => {
  it('joins the lines of a list, and of any other header has the first', async () => {
    const client = await openRawConnection(target.port);
    client.send(
      `GET /headers HTTP/1.1\r\nhost: x\r\nanthropic-beta: a, b\r\nanthropic-version: 1\r\n${[
        'x-forwarded-for: 192.0.2.1',
        'x-user: ann',
        'Anthropic-Beta: c',
        'x-user: bob',
        'anthropic-version: 2',
        'x-forwarded-for: 192.0.2.2',
      ].join('\r\n')}\r\n\r\n`,
    );
    await client.waitFor(/\}$/);
    expect(client.received()).toContain(
      '{"lists":["a, b,c","192.0.2.1,192.0.2.2"],"others":["1","ann",null]}',
    );
    client.destroy();
  });
});

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
    connection.send('HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n');
    await connection.waitFor(/\r\n\r\n$/);
    connection.send('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
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
    expect(await (await fetch(`${target.url}/twice-large`)).text()).toHaveLength(5_000_000);
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
    const never = { 'GET /never': () => new Promise<void>(() => {}) };
    const { url, server } = await startTestServer(never, {}, 300);
    onTestFinished(() => server.close());
    const response = await fetch(`${url}/never`);
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { type: 'timeout_error' } });
  });

  it('that fails in the middle of a stream has its connection cut, so that nobody takes it for complete', async () => {
    const response = await fetch(`${target.url}/throws-midway`);
    tellClientHasHead();
    await expect(response.text()).rejects.toThrow();
  });
});

describe('a server', () => {
  it('counts its quiet time on when the clock of its machine is set', async () => {
    const { url, server } = await startTestServer({
      'GET /ok': (exchange) => exchange.answerJson(200, {}),
    });
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => {
      vi.useRealTimers();
      server.close();
    });
    await (await fetch(`${url}/ok`)).text();
    await waitUntil(() => server.activeExchanges === 0, 'the exchange is over');
    for (const aheadMs of [-HOUR_MS, HOUR_MS]) {
      vi.setSystemTime(Date.now() + aheadMs);
      expect(server.quietForMs()).toBeGreaterThanOrEqual(0);
      expect(server.quietForMs()).toBeLessThan(HOUR_MS / 2);
      vi.setSystemTime(Date.now() - aheadMs);
    }
  });

  it('whose port is taken does not start', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expect(
      startServer({
        uws: loadUws([]).uws,
        endpoint: { kind: 'tcp', host: '127.0.0.1', port },
        routes: [],
        openRefusal: (route) => route,
        limits: DEFAULT_HTTP_LIMITS,
        clock: { nowMs: () => Date.now() },
        log: target.log,
      }),
    ).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
    other.close();
  });
});
