import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { openRawConnection, type RawConnection } from '../support/clients/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const HEAD = { status: 200, headers: { 'content-type': 'text/plain' } };
const SMALL = Buffer.alloc(5_000, 'a');
/** More than a socket of the machine holds at both ends. */
const REQUESTS = 20_000;

let target: TestServer;
let client: RawConnection | undefined;
afterEach(() => {
  client?.destroy();
  target.server.close();
});

async function startServer() {
  let asked = 0;
  target = await startTestServer({
    'GET /small': (exchange) => {
      asked += 1;
      exchange.answer(HEAD, SMALL);
    },
    'GET /empty': (exchange) => {
      asked += 1;
      exchange.answer({ status: 204, headers: {} }, '');
    },
  });
  client = await openRawConnection(target.port);
  client.socket.pause();
  return { connection: client, countAsked: () => asked };
}

it.each([
  ['small answers', 'GET /small'],
  ['answers without a body', 'GET /empty'],
  ['answers to HEAD', 'HEAD /small'],
])('%s are not made for a client that sends on and reads nothing', async (_, line) => {
  const { connection, countAsked } = await startServer();
  connection.send(`${line} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(REQUESTS));
  await waitUntil(() => target.server.activeExchanges === 0 && countAsked() > 0, 'it is cut off');
  connection.socket.resume();
  await connection.waitForClose();
  expect(countAsked()).toBeLessThan(REQUESTS / 2);
});

it('the next request of a client waits until it has read the small answers before', async () => {
  const { connection, countAsked } = await startServer();
  let sent = 0;
  while (target.server.blockedAnswerBytes === 0 && sent < REQUESTS) {
    connection.send('GET /small HTTP/1.1\r\nHost: a\r\n\r\n');
    sent += 1;
    while (countAsked() < sent) await nextTurn();
  }
  expect(target.server.blockedAnswerBytes).toBe(SMALL.length);
  expect(target.server.activeExchanges).toBe(1);
  connection.socket.resume();
  const countRead = () => connection.received().split('HTTP/1.1 200 OK').length - 1;
  await waitUntil(() => countRead() === sent, 'every answer has come');
  expect(target.server.blockedAnswerBytes).toBe(0);
});

it('a stream is open until its client has read so far that no part of it waits', async () => {
  const piece = Buffer.alloc(15_000, '#');
  let writtenBytes = 0;
  let hasEnded = false;
  target = await startTestServer({
    'GET /stream': async (exchange) => {
      const stream = exchange.startStream(HEAD);
      const write = () => {
        writtenBytes += piece.length;
        return stream.write(piece);
      };
      // Two pieces are too many for one turn of the event loop.
      await write();
      await write();
      while (write() === undefined) await nextTurn();
      stream.endStream();
      hasEnded = true;
    },
  });
  client = await openRawConnection(target.port);
  const connection = client;
  connection.socket.pause();
  connection.send('GET /stream HTTP/1.1\r\nHost: a\r\n\r\n');
  await waitUntil(() => hasEnded, 'the stream has ended');
  expect(target.server.activeExchanges).toBe(1);
  connection.socket.resume();
  await connection.waitFor(/\r\n0\r\n\r\n$/);
  expect(connection.received().split('#').length - 1).toBe(writtenBytes);
  await waitUntil(() => target.server.activeExchanges === 0, 'the exchange has ended');
});
