import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { judgeCertificate } from '../../src/doctor/upstream/check-certificate.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { examine, problem } from './examine.ts';

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** An upstream that knows one path and one key, sent in the way of its kind. */
const guard: RequestListener = (request, response) => {
  const { 'x-api-key': native, authorization: chat } = request.headers;
  const isKnown = native === 'good' || chat === 'Bearer good';
  const status = request.url === '/v1/models' ? (isKnown ? 200 : 401) : 404;
  response.writeHead(status).end('{}');
};

const upstream = (url: string, more = '', kind = 'native') =>
  `upstreams: [{name: main, kind: ${kind}, url: '${url}', timeouts: {connect: 1m}${more}}]`;

it('finds that a key is taken, with both kinds of upstream and both forms of address', async () => {
  const port = await listen(createServer(guard));
  for (const kind of ['native', 'chat']) {
    for (const path of ['', '/v1']) {
      const url = `http://127.0.0.1:${port}${path}`;
      const find = await examine({ settings: upstream(url, ', api_key: good', kind) });
      expect(find('upstream-reachable', 'main').state).toBe('ok');
      expect(find('upstream-key', 'main')).toEqual({ state: 'ok', found: 'the key is accepted' });
      expect(find('upstream-certificate', 'main').found).toBe('without TLS');
    }
  }
});

it('fails a key that is refused, and one that is missing', async () => {
  const url = `http://127.0.0.1:${await listen(createServer(guard))}`;
  const wrong = await examine({ settings: upstream(url, ', api_key: bad') });
  expect(wrong('upstream-reachable', 'main').state).toBe('ok');
  expect(wrong('upstream-key', 'main')).toEqual(
    problem('failed', 'the key is refused (status 401)', 'a valid key'),
  );
  const none = await examine({ settings: upstream(url) });
  expect(none('upstream-key', 'main')).toEqual(problem('failed', 'required', 'api_key'));
});

it('says so when an answer says nothing about the key, and warns of one that reports errors', async () => {
  const url = `http://127.0.0.1:${await listen(createServer(guard))}/elsewhere`;
  const elsewhere = await examine({ settings: upstream(url, ', api_key: good') });
  expect(elsewhere('upstream-key', 'main')).toEqual({
    state: 'skipped',
    found: expect.stringContaining('status 404'),
  });
  const port = await listen(createServer((_, response) => void response.writeHead(503).end()));
  const ill = await examine({ settings: upstream(`http://127.0.0.1:${port}`) });
  expect(ill('upstream-reachable', 'main')).toEqual(
    problem('warning', 'status 503', 'reports errors'),
  );
});

it('fails an upstream whose port is closed, or that does not speak HTTP', async () => {
  const closed = `http://127.0.0.1:${await findFreePort()}`;
  const find = await examine({ settings: upstream(closed, ', api_key: good') });
  expect(find('upstream-reachable', 'main')).toEqual(
    problem('failed', 'ECONNREFUSED', 'Start the upstream'),
  );
  expect(find('upstream-key', 'main').state).toBe('skipped');
  const port = await listen(createTcpServer((socket) => void socket.end('hello\r\n\r\n')));
  const odd = await examine({ settings: upstream(`http://127.0.0.1:${port}`) });
  expect(odd('upstream-reachable', 'main')).toEqual(problem('failed', '', 'HTTP/1.1'));
});

it('fails an upstream whose certificate has expired, by the handshake and by its day', async () => {
  const server = createTlsServer(createExpiredIdentity(), guard);
  const url = `https://127.0.0.1:${await listen(server)}`;
  const find = await examine({ settings: upstream(url, ', api_key: good') });
  expect(find('upstream-reachable', 'main')).toEqual(
    problem('failed', 'https://127.0.0.1', 'certificate'),
  );
  expect(find('upstream-certificate', 'main')).toEqual(problem('failed', 'expired', 'renew'));
});

it('warns of a certificate in its last two weeks', () => {
  const nowMs = Date.parse('2030-01-01T00:00:00Z');
  const inDays = (days: number) => judgeCertificate(nowMs + days * 86_400_000, nowMs);
  expect(inDays(14)).toEqual({ state: 'ok', found: 'good until 2030-01-15' });
  expect(inDays(13.9)).toEqual(problem('warning', '13 more days', 'renew'));
  expect(inDays(0)).toEqual(problem('failed', 'expired on 2030-01-01', 'renew'));
});

it('skips a simulated upstream', async () => {
  const find = await examine();
  for (const name of ['upstream-reachable', 'upstream-key', 'upstream-certificate'] as const) {
    expect(find(name, 'simulated')).toEqual({ state: 'skipped', found: 'simulated' });
  }
});

function createExpiredIdentity() {
  const dir = createTempDir();
  const [key, request, cert] = ['key.pem', 'request.pem', 'cert.pem'].map((name) =>
    join(dir, name),
  ) as [string, string, string];
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  openssl(
    ...['req', '-new', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=127.0.0.1'],
    ...['-keyout', key, '-out', request],
  );
  // The certificate ends in the second in which it begins: OpenSSL 3.5 signs none that ends before
  // it begins.
  openssl('x509', '-req', '-in', request, '-signkey', key, '-days', '0', '-out', cert);
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

it('tells a wrong key also where the path of the probe asks for none', async () => {
  const open: RequestListener = (request, response) =>
    request.url === '/health' ? void response.end() : guard(request, response);
  const url = `http://127.0.0.1:${await listen(createServer(open))}`;
  for (const [key, state] of [
    ['bad', 'failed'],
    ['good', 'ok'],
  ]) {
    const find = await examine({
      settings: upstream(url, `, api_key: ${key}, probe: {path: /health}`),
    });
    expect(find('upstream-reachable', 'main').state).toBe('ok');
    expect(find('upstream-key', 'main').state, key).toBe(state);
  }
});
