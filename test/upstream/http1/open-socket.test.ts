import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { SecureVersion, TLSSocket, TlsOptions } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOpenSocket } from '../../../src/upstream/http1/open-socket.ts';
import { createIdentity, type Identity } from './create-identity.ts';
import { startRawServer } from './start-raw-server.ts';
import { ask, useClient } from './use-client.ts';

const CLOSING_OK = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';

let identity: Identity;
beforeAll(() => {
  identity = createIdentity('IP:127.0.0.1');
});

function useTlsClient(port: number) {
  const origin = { protocol: 'https:', host: '127.0.0.1', port } as const;
  return useClient(port, { origin, tls: { ca: identity.cert } });
}

/** A server that closes after each answer and notes whether its connections resumed a session. */
async function startTlsServer(tls: TlsOptions = {}) {
  const resumed: boolean[] = [];
  const server = await startRawServer({
    tls: { ...identity, ...tls },
    onConnection: ({ socket }) => resumed.push((socket as TLSSocket).isSessionReused()),
    onRequest: (peer) => void peer.send(CLOSING_OK),
  });
  return { port: server.port, resumed };
}

describe('a TLS session', () => {
  it.each<SecureVersion>(['TLSv1.2', 'TLSv1.3'])(
    'is resumed by the next connections to the origin, with %s',
    async (version) => {
      const server = await startTlsServer({ minVersion: version, maxVersion: version });
      const client = useTlsClient(server.port);
      for (let n = 0; n < 3; n += 1) expect((await ask(client)).body()).toBe('ok');
      expect(server.resumed).toEqual([false, true, true]);
    },
  );

  it('is not used again after a connection that failed', async () => {
    let handshakes = 0;
    const ALPNCallback = () => {
      handshakes += 1;
      return handshakes === 2 ? undefined : 'http/1.1';
    };
    const server = await startTlsServer({ ALPNCallback });
    const client = useTlsClient(server.port);
    expect((await ask(client)).body()).toBe('ok');
    expect((await ask(client)).events).toEqual(['fail tls_failed']);
    expect((await ask(client)).body()).toBe('ok');
    expect(server.resumed).toEqual([false, false]);
  });

  it('of another client is not known', async () => {
    const server = await startTlsServer();
    for (let n = 0; n < 2; n += 1) {
      expect((await ask(useTlsClient(server.port))).body()).toBe('ok');
    }
    expect(server.resumed).toEqual([false, false]);
  });
});

describe('a socket to an upstream', () => {
  /** A child process inherits the socket and asks the system. */
  function readOption(socket: Socket, level: number, name: number): number {
    const { fd } = (socket as unknown as { _handle: { fd: number } })._handle;
    const option = `getsockopt($s, ${level}, ${name}) // die $!`;
    const script = `open(my $s, "+<&=", 3) or die; print unpack("i", ${option})`;
    const printed = execFileSync('perl', ['-e', script], {
      stdio: ['ignore', 'pipe', 'inherit', fd],
    });
    return Number(printed);
  }
  const [SOL_SOCKET, SO_KEEPALIVE] = [1, 9];
  const [IPPROTO_TCP, TCP_NODELAY, TCP_KEEPIDLE] = [6, 1, 4];

  it.each(['http:', 'https:'] as const)(
    'sends at once what is written, and asks a silent peer each minute, over %s',
    async (protocol) => {
      const server = await startRawServer(protocol === 'https:' ? { tls: identity } : {});
      const openSocket = createOpenSocket(
        { protocol, host: '127.0.0.1', port: server.port },
        { ca: identity.cert },
      );
      const socket = openSocket({ onConnect: () => {}, onReady: () => {}, onBytes: () => {} });
      await once(socket, protocol === 'https:' ? 'secureConnect' : 'connect');
      expect(readOption(socket, IPPROTO_TCP, TCP_NODELAY)).not.toBe(0);
      expect(readOption(socket, SOL_SOCKET, SO_KEEPALIVE)).not.toBe(0);
      expect(readOption(socket, IPPROTO_TCP, TCP_KEEPIDLE)).toBe(60);
      socket.destroy();
    },
  );
});
