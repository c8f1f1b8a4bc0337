import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait-until.ts';
import { type Peer, startRawServer } from './start-raw-server.ts';
import { ask, GET, post, tell, useClient } from './use-client.ts';
import { waitUntilQuiet } from './wait-until-quiet.ts';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const LARGE_BYTES = 100 * 1024 * 1024;
/** The most that two kernel buffers and the client hold, far below the whole answer. */
const IN_BETWEEN_BYTES_MAX = 32 * 1024 * 1024;
const CLIENT_BYTES_MAX = 4 * 1024 * 1024;

/** Sends as much as the connection takes, until everything is sent. */
function pour(peer: Peer, bytes: number): { sent(): number } {
  const piece = Buffer.alloc(64 * 1024, 'x');
  let left = bytes;
  peer.socket.write(`${HEAD}content-length: ${bytes}\r\n\r\n`);
  const goOn = () => {
    while (left > 0 && !peer.socket.destroyed) {
      left -= piece.length;
      if (!peer.socket.write(piece)) return;
    }
  };
  peer.socket.on('drain', goOn);
  goOn();
  return { sent: () => bytes - left - peer.socket.writableLength };
}

describe('an exchange that is paused', () => {
  it('makes the server of a large answer wait, and holds next to nothing itself', async () => {
    let poured = { sent: () => 0 };
    const server = await startRawServer({
      onRequest: (peer) => {
        poured = pour(peer, LARGE_BYTES);
      },
    });
    let told = 0;
    let end = '';
    const exchange = useClient(server.port).send(GET, {
      onHead() {},
      onData(chunk) {
        if (told === 0) exchange.pause();
        told += chunk.length;
      },
      onEnd() {
        end = 'end';
      },
      onFail({ kind }) {
        end = kind;
      },
    });
    await waitUntil(() => told > 0, 'the answer has begun');
    const toldBefore = told;
    const heldBefore = process.memoryUsage().arrayBuffers;
    await waitUntilQuiet(() => poured.sent());
    expect(told).toBe(toldBefore);
    expect(poured.sent()).toBeLessThan(IN_BETWEEN_BYTES_MAX);
    expect(process.memoryUsage().arrayBuffers - heldBefore).toBeLessThan(CLIENT_BYTES_MAX);
    exchange.resume();
    await waitUntil(() => end !== '', 'the answer is complete');
    expect([end, told]).toEqual(['end', LARGE_BYTES]);
  });

  it('makes the server wait also when it was paused before it was connected', async () => {
    let poured = { sent: () => 0 };
    const server = await startRawServer({
      onRequest: (peer) => {
        poured = pour(peer, LARGE_BYTES);
      },
    });
    const told = tell(useClient(server.port), GET);
    told.exchange.pause();
    await server.waitForRequests(1);
    await waitUntilQuiet(() => poured.sent());
    expect(poured.sent()).toBeLessThan(IN_BETWEEN_BYTES_MAX);
    expect(told.events).toEqual([]);
    told.exchange.resume();
    await told.waitForOver();
    expect(told.events.at(-1)).toBe('end');
  });

  const answers = {
    'with a length': `${HEAD}content-length: 5\r\n\r\nhello`,
    'in chunks': `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`,
    'without a body': 'HTTP/1.1 204 No Content\r\n\r\n',
  };
  for (const [how, text] of Object.entries(answers)) {
    it(`hears nothing, whatever came in one piece, of an answer ${how}`, async () => {
      const server = await startRawServer({ onRequest: (peer) => void peer.send(text) });
      const client = useClient(server.port);
      const expected = (await ask(client)).events;
      const told = tell(client, GET, (event, exchange) => {
        if (!event.startsWith('fail') && event !== 'end') exchange.pause();
      });
      for (let events = 1; events <= expected.length; events++) {
        await waitUntil(() => told.events.length === events, 'one more event is emitted');
        for (let turn = 0; turn < 5; turn++) await nextTurn();
        expect(told.events).toEqual(expected.slice(0, events));
        told.exchange.resume();
      }
      expect((await ask(client)).events).toEqual(expected);
      expect(server.peers).toHaveLength(1);
    });
  }

  it('goes on at once when it is resumed from inside of a call', async () => {
    const server = await startRawServer({
      onRequest: (peer) => void peer.send(answers['in chunks']),
    });
    const client = useClient(server.port);
    const told = tell(client, GET, (_, exchange) => {
      exchange.pause();
      exchange.resume();
    });
    await told.waitForOver();
    expect(told.events).toEqual(['head', 'data', 'data', 'end']);
    expect((await ask(client)).body()).toBe('hello');
  });

  it('that is resumed from inside of a call still sees bytes behind the end', async () => {
    for (const text of Object.values(answers)) {
      const server = await startRawServer({ onRequest: (peer) => void peer.send(`${text}!`) });
      const client = useClient(server.port);
      for (let i = 1; i <= 2; i++) {
        const told = tell(client, GET, (_, exchange) => {
          exchange.pause();
          exchange.resume();
        });
        await told.waitForOver();
        expect([told.events.at(-1), server.peers.length]).toEqual(['end', i]);
      }
    }
  });

  it('learns of a loss when it is resumed, after all that came before it', async () => {
    const server = await startRawServer({
      onRequest: (peer) => void peer.send(`${HEAD}content-length: 9\r\n\r\nhello`),
    });
    const told = tell(useClient(server.port), GET, (event, exchange) => {
      if (event === 'head') exchange.pause();
    });
    await waitUntil(() => told.status() === 200, 'the head is emitted');
    server.peers[0]?.socket.resetAndDestroy();
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    expect(told.events).toEqual(['head']);
    told.exchange.resume();
    await told.waitForOver();
    expect(told.events).toEqual(['head', 'data', 'fail truncated']);
  });

  it('hears what came before a loss that its own sending has found', async () => {
    const server = await startRawServer({
      onConnection: (peer) =>
        peer.socket.once('data', () => {
          peer.socket.pause();
          void peer.send(`${HEAD}content-length: 9\r\n\r\nhello`);
        }),
    });
    const request = post(Buffer.alloc(LARGE_BYTES));
    const told = tell(useClient(server.port), request, (event, exchange) => {
      if (event === 'head') exchange.pause();
    });
    await waitUntil(() => told.status() === 200, 'the head is emitted');
    server.peers[0]?.socket.resetAndDestroy();
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    expect(told.events).toEqual(['head']);
    told.exchange.resume();
    await told.waitForOver();
    expect(told.events).toEqual(['head', 'data', 'fail truncated']);
  });

  it('learns of a failed connection when it is resumed', async () => {
    const server = await startRawServer();
    await server.close();
    const client = useClient(server.port, { connectionsMax: 1 });
    const refused = tell(client, GET);
    const exhausted = tell(client, GET);
    refused.exchange.pause();
    exhausted.exchange.pause();
    const witness = useClient(server.port);
    await ask(witness);
    expect([refused.events, exhausted.events]).toEqual([[], []]);
    refused.exchange.resume();
    exhausted.exchange.resume();
    await refused.waitForOver();
    expect(refused.events).toEqual(['fail connect_failed']);
    expect(exhausted.events).toEqual(['fail connections_exhausted']);
  });
});
