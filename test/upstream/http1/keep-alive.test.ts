import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait-until.ts';
import { type Peer, startRawServer } from './start-raw-server.ts';
import { ask, GET, post, type Told, tell, useClient } from './use-client.ts';

const answerWith = (header: string) => `HTTP/1.1 200 OK\r\n${header}content-length: 2\r\n\r\nok`;
const OK = answerWith('');
const answer = (peer: Peer) => void peer.send(OK);

/** Answers the first request of the first connection, and calls `onNext` for what comes next. */
function startFickleServer(onNext: (peer: Peer) => void) {
  let isFirst = true;
  return startRawServer({
    onRequest: (peer) => {
      if (isFirst) answer(peer);
      else onNext(peer);
      isFirst = false;
    },
  });
}

describe('a kept connection', () => {
  it('carries one request after the other, also those sent from the end of the one before', async () => {
    const server = await startRawServer({ onRequest: answer });
    const client = useClient(server.port);
    let ended = 0;
    const sendNext = (event: string) => {
      if (event !== 'end') return;
      ended += 1;
      if (ended <= 20) tell(client, post('again'), sendNext);
    };
    tell(client, GET, sendNext);
    await server.waitForRequests(21);
    expect(server.peers).toHaveLength(1);
    await waitUntil(() => ended === 21, 'the last answer is there');
  });

  it('carries answers of which each comes near to the limits', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(30);
    const head = `HTTP/1.1 200 OK\r\nx-a: ${'b'.repeat(60_000)}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const chunks = `2;${'a'.repeat(200)}\r\nok\r\n0\r\nx-a: ${'b'.repeat(8_000)}\r\n\r\n`;
    const server = await startRawServer({
      onRequest: (peer) => void peer.send(hints + head + chunks),
    });
    const client = useClient(server.port);
    for (let i = 0; i < 3; i++) expect((await ask(client)).body()).toBe('ok');
    expect(server.peers).toHaveLength(1);
  });

  it('is the one that was used last', async () => {
    const server = await startRawServer({ onRequest: answer });
    const client = useClient(server.port);
    const first = tell(client, GET);
    const second = tell(client, GET);
    await first.waitForOver();
    await second.waitForOver();
    await ask(client);
    const [used, idle] = [...server.peers].sort((a, b) => b.requests() - a.requests());
    await ask(client);
    expect([used?.requests(), idle?.requests()]).toEqual([3, 1]);
  });

  for (const how of ['end', 'resetAndDestroy'] as const) {
    it(`that the server closes under a request (${how}) is replaced, and the request repeated`, async () => {
      const server = await startFickleServer((peer) => {
        if (peer === server.peers[0]) peer.socket[how]();
        else answer(peer);
      });
      const client = useClient(server.port);
      await ask(client);
      const told = await ask(client, post('x'.repeat(100_000)));
      expect(told.events).toEqual(['head', 'data', 'end']);
      expect(server.peers.map((peer) => peer.requests())).toEqual([2, 1]);
      expect(server.peers[1]?.received()).toContain('x'.repeat(100_000));
    });
  }

  it('is not replaced when the server had time to work on the request', async () => {
    let nowMs = 1e12;
    const server = await startFickleServer((peer) => {
      nowMs += 1_000;
      peer.socket.end();
    });
    const client = useClient(server.port, { clock: { nowMs: () => nowMs } });
    await ask(client);
    const told = await ask(client);
    expect(told.failure()).toMatchObject({ kind: 'closed_early', isSafeToRepeat: false });
    expect(server.peers.map((peer) => peer.requests())).toEqual([2]);
  });

  it('is replaced only once for a request', async () => {
    const server = await startFickleServer((peer) => peer.socket.end());
    const client = useClient(server.port);
    await ask(client);
    const told = await ask(client);
    expect(told.failure()).toMatchObject({ kind: 'closed_early', isSafeToRepeat: false });
    expect(server.peers.map((peer) => peer.requests())).toEqual([2, 1]);
  });

  it('is replaced by a fresh one even when others are idle', async () => {
    const server = await startRawServer({
      onRequest: (peer, number) => {
        if (number === 1) answer(peer);
        else peer.socket.end();
      },
    });
    const client = useClient(server.port);
    const both = [tell(client, GET), tell(client, GET)];
    for (const told of both) await told.waitForOver();
    expect((await ask(client)).body()).toBe('ok');
    expect(server.peers).toHaveLength(3);
  });

  it('is not replaced once a byte of the answer has come', async () => {
    const server = await startFickleServer((peer) => {
      void peer.send('H').then(() => peer.socket.end());
    });
    const client = useClient(server.port);
    await ask(client);
    const told = await ask(client);
    expect(told.failure()).toMatchObject({ kind: 'truncated', isSafeToRepeat: false });
    expect(server.peers).toHaveLength(1);
  });

  it('that the server closed while it was idle is not used', async () => {
    const server = await startRawServer({ onRequest: answer });
    const client = useClient(server.port);
    await ask(client);
    server.peers[0]?.socket.end();
    await waitUntil(() => server.peers[0]?.isClosed() === true, 'the connection is closed');
    expect((await ask(client)).body()).toBe('ok');
    expect(server.peers.map((peer) => peer.requests())).toEqual([1, 1]);
  });

  it('is closed when the server says something that nobody asked for', async () => {
    const server = await startRawServer({ onRequest: answer });
    const client = useClient(server.port);
    await ask(client);
    await server.peers[0]?.send(OK);
    await waitUntil(() => server.peers[0]?.isClosed() === true, 'the connection is closed');
    expect((await ask(client)).events).toEqual(['head', 'data', 'end']);
  });
});

describe('a fresh connection', () => {
  it('that is closed under a request is not replaced: the server may have begun to work', async () => {
    const server = await startRawServer({ onRequest: (peer) => peer.socket.end() });
    const told = await ask(useClient(server.port));
    expect(told.failure()).toMatchObject({ kind: 'closed_early', isSafeToRepeat: false });
    expect(server.peers).toHaveLength(1);
  });
});

describe('an idle connection', () => {
  const cases = [
    { said: '', lastMs: 3_999, goneMs: 4_000 },
    { said: 'keep-alive: timeout=3, max=100\r\n', lastMs: 1_999, goneMs: 2_000 },
    { said: 'keep-alive: max=100, timeout=30\r\n', lastMs: 28_999, goneMs: 29_000 },
    { said: 'keep-alive: timeout=9000\r\n', lastMs: 59_999, goneMs: 60_000 },
    { said: 'keep-alive: timeout=x\r\n', lastMs: 3_999, goneMs: 4_000 },
  ];
  for (const { said, lastMs, goneMs } of cases) {
    it(`is used for less than ${goneMs} ms after ${JSON.stringify(said)}`, async () => {
      let nowMs = 1e12;
      const server = await startRawServer({
        onRequest: (peer) => void peer.send(answerWith(said)),
      });
      const client = useClient(server.port, { clock: { nowMs: () => nowMs } });
      await ask(client);
      nowMs += lastMs;
      await ask(client);
      expect(server.peers).toHaveLength(1);
      nowMs += goneMs;
      await ask(client);
      expect(server.peers).toHaveLength(2);
      await waitUntil(() => server.peers[0]?.isClosed() === true, 'the old one is closed');
    });
  }

  it('is not kept when the server keeps it for no longer than a second', async () => {
    const said = 'keep-alive: timeout=1\r\n';
    const server = await startRawServer({ onRequest: (peer) => void peer.send(answerWith(said)) });
    const client = useClient(server.port);
    await ask(client);
    await waitUntil(() => server.peers[0]?.isClosed() === true, 'the connection is closed');
  });

  it('is closed when its time is over though nobody asks for it', async () => {
    let nowMs = 1e12;
    let looks = 0;
    const nowMsSeen = () => {
      looks += 1;
      return nowMs;
    };
    const server = await startRawServer({ onRequest: answer });
    const client = useClient(server.port, { clock: { nowMs: nowMsSeen } });
    for (const i of [0, 1]) {
      await ask(client);
      const looksBefore = looks;
      await waitUntil(() => looks > looksBefore, 'somebody has looked, too early');
      expect(server.peers[i]?.isClosed()).toBe(false);
      nowMs += 4_000;
      await waitUntil(() => server.peers[i]?.isClosed() === true, 'the connection is closed');
    }
  });

  it('is not used after the clock was set back', async () => {
    let nowMs = 1e12;
    const server = await startRawServer({ onRequest: answer });
    const client = useClient(server.port, { clock: { nowMs: () => nowMs } });
    await ask(client);
    nowMs -= 1;
    await ask(client);
    expect(server.peers).toHaveLength(2);
  });
});

describe('a client', () => {
  it('opens no more connections than it may, and says so', async () => {
    const server = await startRawServer();
    const client = useClient(server.port, { connectionsMax: 2 });
    tell(client, GET);
    tell(client, GET);
    const told = tell(client, GET);
    expect(told.isOver()).toBe(false);
    await told.waitForOver();
    expect(told.failure()).toMatchObject({ kind: 'connections_exhausted', isSafeToRepeat: true });
    await server.waitForRequests(2);
    expect(server.peers).toHaveLength(2);
  });

  it('that has no room asks for some', async () => {
    const server = await startRawServer();
    const running: Told[] = [];
    const client = useClient(server.port, {
      connectionsMax: 2,
      makeRoom: () => running.shift()?.exchange.abort(),
    });
    for (let i = 0; i < 4; i++) running.push(tell(client, GET));
    await server.waitForRequests(2);
    expect(running).toHaveLength(2);
    await waitUntil(() => server.peers.filter((peer) => !peer.isClosed()).length === 2, 'two run');
    expect(running.map(({ isOver }) => isOver())).toEqual([false, false]);
  });

  it('has room again for each connection that is gone', async () => {
    const server = await startRawServer({
      onRequest: (peer) => void peer.send(answerWith('connection: close\r\n')),
    });
    const client = useClient(server.port, { connectionsMax: 1 });
    for (let i = 0; i < 5; i++) expect((await ask(client)).events.at(-1)).toBe('end');
    expect(server.peers).toHaveLength(5);
  });

  it('that is closed lets run what runs, keeps nothing and takes nothing more', async () => {
    let canAnswer = true;
    const server = await startRawServer({ onRequest: (peer) => canAnswer && answer(peer) });
    const client = useClient(server.port);
    const idle = tell(client, GET);
    const running = tell(client, GET);
    await idle.waitForOver();
    await running.waitForOver();
    canAnswer = false;
    const late = tell(client, GET);
    await server.waitForRequests(3);
    client.close();
    await waitUntil(() => server.peers.some((peer) => peer.isClosed()), 'the idle one is closed');
    const refused = await ask(client);
    expect(refused.failure()).toMatchObject({ kind: 'client_closed', isSafeToRepeat: true });
    const open = server.peers.find((peer) => !peer.isClosed());
    await open?.send(OK);
    await late.waitForOver();
    expect(late.events).toEqual(['head', 'data', 'end']);
    await waitUntil(() => server.peers.every((peer) => peer.isClosed()), 'all are closed');
  });
});
