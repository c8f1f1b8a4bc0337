import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { findFreePort } from '../support/servers/find-free-port.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import {
  makeTempFolder,
  startRedisServer,
  stopRedisServers,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

let certificate: string;
let tlsPort: number;

beforeEach(async () => {
  const dir = makeTempFolder();
  certificate = join(dir, 'cert.pem');
  const key = join(dir, 'key.pem');
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate],
    ],
    { stdio: 'ignore' },
  );
  tlsPort = await findFreePort();
  const files = ['--tls-cert-file', certificate, '--tls-key-file', key];
  await startRedisServer({
    args: ['--tls-port', `${tlsPort}`, ...files, '--tls-auth-clients', 'no'],
  });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await closeConnections();
  await stopRedisServers();
});

it('talks TLS to a server whose certificate it trusts', async () => {
  // This has the effect of setting NODE_EXTRA_CA_CERTS before a process starts.
  const connect = tls.connect;
  const ca = readFileSync(certificate);
  vi.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) =>
    connect({ ...options, ca })) as typeof tls.connect);
  const connection = openConnection({ ...standalone(tcp(tlsPort)), tls: true });
  await waitForRedis(connection);
  expect(await connection.send('ping', [])).toBe('PONG');
});

it('refuses a server whose certificate no one has signed', async () => {
  const connection = openConnection({ ...standalone(tcp(tlsPort)), tls: true });
  await waitUntil(() => connection.log.lines.length > 0, 'the refusal is logged');
  expect(connection.log.lines[0]?.fields).toMatchObject({
    reason: expect.stringContaining('self-signed certificate'),
  });
  await expect(connection.send('ping', [])).rejects.toThrow();
});

it('says so when a server that talks TLS is asked without', async () => {
  const connection = openConnection(standalone(tcp(tlsPort)));
  await waitUntil(() => connection.log.lines.length > 0, 'the failure is logged');
  await expect(connection.send('ping', [])).rejects.toThrow("Stream isn't writeable");
});
