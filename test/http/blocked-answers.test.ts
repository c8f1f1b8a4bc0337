import { afterEach, describe, expect, it } from 'vitest';
import { openRawConnection, type RawConnection } from '../support/clients/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const END = '. The end.';
const ANSWER = Buffer.from(END.padStart(8 * 1024 * 1024, 'a'));
const ANSWERS_MAX = 3;
const HEAD = { status: 200, headers: { 'content-type': 'text/plain' } };
const ASK = 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n';
const ASK_IN_CHUNKS =
  'POST /large HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';

let target: TestServer;
const clients: RawConnection[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  target.server.close();
});

describe.each([
  ['a plain request', ASK],
  ['a request in chunks', ASK_IN_CHUNKS],
])('whole answers to %s that nobody reads', (_, request) => {
  async function startLarge(): Promise<void> {
    const answer = {
      'GET /large': (exchange) => exchange.answer(HEAD, ANSWER),
      'POST /large': (exchange) => exchange.answer(HEAD, ANSWER),
    } satisfies Parameters<typeof startTestServer>[0];
    target = await startTestServer(answer, { answersBlockedBytesMax: ANSWERS_MAX * ANSWER.length });
  }

  async function askAndReadNothing(): Promise<RawConnection> {
    const client = await openRawConnection(target.port);
    clients.push(client);
    client.socket.pause();
    client.send(request);
    return client;
  }

  const waitForBlocked = (answers: number) =>
    waitUntil(
      () => target.server.blockedAnswerBytes === answers * ANSWER.length,
      () => `${answers} answers wait, not ${target.server.blockedAnswerBytes} bytes`,
    );

  it('hold no more than a worker has for them, and the oldest give way', async () => {
    await startLarge();
    for (let count = 1; count <= ANSWERS_MAX; count++) {
      await askAndReadNothing();
      await waitForBlocked(count);
    }
    for (let count = 0; count < 2; count++) {
      await askAndReadNothing();
      await waitUntil(
        () => target.server.activeExchanges === ANSWERS_MAX,
        'the oldest answer gave way',
      );
    }
    await waitForBlocked(ANSWERS_MAX);
    const [first, second, third] = clients;
    for (const client of [first, second, third]) client?.socket.resume();
    await first?.waitForClose();
    await second?.waitForClose();
    expect(first?.received().length).toBeLessThan(ANSWER.length);
    await waitUntil(() => third?.received().includes(END) === true, 'the third is whole');
  });

  it('hold nothing once they are read or their client has left', async () => {
    await startLarge();
    const reader = await askAndReadNothing();
    const leaver = await askAndReadNothing();
    await waitForBlocked(2);
    leaver.destroy();
    await waitForBlocked(1);
    reader.socket.resume();
    await waitForBlocked(0);
    await waitUntil(() => reader.received().includes(END), 'the answer is whole');
  });
});

it('a whole answer that nobody reads holds no body of its request', async () => {
  const body = Buffer.alloc(1024 * 1024, 'b');
  let heldBytes = 0;
  target = await startTestServer({
    'POST /large': async (exchange) => {
      await exchange.body({ accountId: 'acc_1', origin: { address: '192.0.2.1' } });
      heldBytes = target.server.heldBodyBytes;
      exchange.answer(HEAD, ANSWER);
    },
  });
  const client = await openRawConnection(target.port);
  clients.push(client);
  client.socket.pause();
  client.send(`POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`);
  client.send(body);
  await waitUntil(() => target.server.blockedAnswerBytes === ANSWER.length, 'the answer waits');
  expect([heldBytes, target.server.heldBodyBytes]).toEqual([body.length, 0]);
});
