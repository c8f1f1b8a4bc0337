import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait-until.ts';
import { startRawServer } from './start-raw-server.ts';
import { ask, GET, post, tell, useClient } from './use-client.ts';

const CHUNKS =
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n';

async function passTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn();
}

describe('an exchange that is aborted', () => {
  for (const moment of ['head', 'data'] as const) {
    it(`from inside of its ${moment} hears nothing more, and its connection is closed`, async () => {
      const server = await startRawServer({ onRequest: (peer) => void peer.send(CHUNKS) });
      const client = useClient(server.port);
      const told = tell(client, GET, (event, exchange) => {
        if (event === moment) exchange.abort();
      });
      await waitUntil(() => server.peers[0]?.isClosed() === true, 'the connection is closed');
      await passTurns();
      expect(told.events).toEqual(moment === 'head' ? ['head'] : ['head', 'data']);
      expect((await ask(client)).body()).toBe('hello');
    });
  }

  it('before it is connected sends nothing', async () => {
    const server = await startRawServer();
    const client = useClient(server.port, { connectionsMax: 1 });
    const told = tell(client, post('secret'));
    told.exchange.abort();
    tell(client, GET);
    await server.waitForRequests(1);
    expect(server.peers.map((peer) => peer.received()).join()).not.toContain('secret');
    expect(told.events).toEqual([]);
  });

  it('before the answer, or while paused, closes its connection at once', async () => {
    const server = await startRawServer();
    const client = useClient(server.port);
    const [waiting, paused] = [tell(client, GET), tell(client, GET)];
    paused.exchange.pause();
    await server.waitForRequests(2);
    for (const peer of server.peers) void peer.send('HTTP/1.1 200 OK\r\n');
    waiting.exchange.abort();
    paused.exchange.abort();
    paused.exchange.resume();
    await waitUntil(() => server.peers.every((peer) => peer.isClosed()), 'both are closed');
    expect([waiting.events, paused.events]).toEqual([[], []]);
  });

  it('while its body is being sent stops sending it', async () => {
    const server = await startRawServer({ onConnection: ({ socket }) => socket.pause() });
    const client = useClient(server.port);
    const told = tell(client, post(Buffer.alloc(64 * 1024 * 1024)));
    await waitUntil(() => server.peers.length === 1, 'it is connected');
    await passTurns();
    told.exchange.abort();
    server.peers[0]?.socket.resume();
    await waitUntil(() => server.peers[0]?.isClosed() === true, 'the connection is closed');
    expect(server.peers[0]?.requests()).toBe(0);
    expect(told.events).toEqual([]);
  });

  it('although it could not be sent does not hear of it', async () => {
    const server = await startRawServer();
    const client = useClient(server.port, { connectionsMax: 0 });
    const told = tell(client, GET);
    told.exchange.abort();
    await passTurns();
    expect(told.events).toEqual([]);
  });

  it('twice, or after its end, changes nothing', async () => {
    const server = await startRawServer({ onRequest: (peer) => void peer.send(CHUNKS) });
    const client = useClient(server.port);
    const told = await ask(client);
    told.exchange.abort();
    told.exchange.pause();
    told.exchange.resume();
    expect((await ask(client)).body()).toBe('hello');
    const aborted = tell(client, GET);
    aborted.exchange.abort();
    aborted.exchange.abort();
    expect(server.peers).toHaveLength(1);
  });
});
