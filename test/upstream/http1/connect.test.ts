import { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { holdLookups, IPV4_LOOPBACK, IPV6_LOOPBACK } from '../../support/upstreams/hold-lookups.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { startRawServer } from './start-raw-server.ts';
import { ask, GET, tell, useClient } from './use-client.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

describe('connecting', () => {
  it('to a port where nobody listens fails, and may be repeated', async () => {
    const client = useClient(await findFreePort());
    const told = await ask(client);
    expect(told.events).toEqual(['fail connect_failed']);
    expect(told.failure()).toMatchObject({ isSafeToRepeat: true, reason: 'ECONNREFUSED' });
  });

  it('takes no longer than it may, with the handshake of TLS', async () => {
    const server = await startRawServer();
    const client = useClient(server.port, {
      origin: { protocol: 'https:', host: '127.0.0.1', port: server.port },
      connectTimeoutMs: 50,
    });
    const told = await ask(client);
    expect(told.failure()).toMatchObject({ kind: 'connect_timeout', isSafeToRepeat: true });
    await waitUntil(() => server.peers[0]?.isClosed() === true, 'the connection is closed');
  });

  it('has no say in how long the answer takes', async () => {
    // Longer than this process may stand still while it connects.
    const connectTimeoutMs = 1_000;
    const server = await startRawServer({
      // Timers of the same length run in the order in which they are set.
      onRequest: (peer) => setTimeout(() => void peer.send(OK), connectTimeoutMs),
    });
    const client = useClient(server.port, { connectTimeoutMs });
    expect((await ask(client)).body()).toBe('ok');
  });

  for (const protocol of ['http:', 'https:'] as const) {
    it(`asks the system not to hold back small packets (${protocol})`, async () => {
      const setNoDelay = vi.spyOn(Socket.prototype, 'setNoDelay');
      onTestFinished(() => setNoDelay.mockRestore());
      const server = await startRawServer({ onConnection: (peer) => peer.socket.destroy() });
      const origin = { protocol, host: '127.0.0.1', port: server.port };
      await ask(useClient(server.port, { origin }));
      expect(setNoDelay.mock.calls).toEqual([[true]]);
    });
  }

  it('finds a server by its name, on whichever of its addresses it listens', async () => {
    const server = await startRawServer({ onRequest: (peer) => void peer.send(OK) });
    const client = useClient(server.port, {
      origin: { protocol: 'http:', host: 'localhost', port: server.port },
    });
    expect((await ask(client)).body()).toBe('ok');
    expect(server.peers[0]?.received()).toContain(`\r\nhost: localhost:${server.port}\r\n`);
  });

  it('looks a name up once for all that wait, whom no other name waits for, and tries all addresses', async () => {
    const system = holdLookups();
    const server = await startRawServer({ onRequest: (peer) => void peer.send(OK) });
    const originOf = (host: string) => ({ protocol: 'http:', host, port: server.port }) as const;
    const client = useClient(server.port, { origin: originOf('upstream.test') });
    const waiting = [1, 2, 3].map(() => tell(client, GET));
    const other = ask(useClient(server.port, { origin: originOf('other.test') }));
    expect(system.asked).toEqual(['upstream.test', 'other.test']);
    system.answer('other.test');
    expect((await other).body()).toBe('ok');
    expect(waiting.map((told) => told.events)).toEqual([[], [], []]);
    system.answer('upstream.test', [IPV6_LOOPBACK, IPV4_LOOPBACK]);
    for (const told of waiting) await told.waitForBody('ok');
    expect(server.peers).toHaveLength(4);
  });

  it('is not waited for by others: each request that finds no idle connection has its own', async () => {
    const server = await startRawServer();
    const client = useClient(server.port);
    for (let i = 0; i < 3; i++) tell(client, GET);
    await server.waitForRequests(3);
    expect(server.peers.map((peer) => peer.requests())).toEqual([1, 1, 1]);
  });
});
