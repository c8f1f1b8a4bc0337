import { afterEach, describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/http/exchange.ts';
import { createDeferred, type Deferred } from '../../src/lib/time/deferred.ts';
import { openRawConnection, type RawConnection } from '../support/clients/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const MIB = 1024 * 1024;

/** The account is known before the body arrives, or only when it is complete. */
let isKnown = true;

let target: TestServer;
let answering: Deferred;
const waiting: RawConnection[] = [];
afterEach(() => {
  isKnown = true;
  for (const connection of waiting.splice(0)) connection.destroy();
  target.server.close();
});

/** Each request is answered when the test says so. */
async function start(): Promise<void> {
  answering = createDeferred();
  target = await startTestServer(
    {
      'POST /ask': async (exchange) => {
        const accountId = exchange.header('x-account');
        const owner = { accountId, origin: { address: '192.0.2.1' } };
        const body = await exchange.body({ ...owner, accountId: isKnown ? accountId : undefined });
        // Whoever asks for it again changes nothing.
        await exchange.body(owner);
        await answering.promise;
        exchange.answerJson(200, { size: body.byteLength });
      },
    },
    { bodiesHeldBytesMax: 16 * MIB, bodyBytesMax: 4 * MIB },
  );
}

/** Sends so many bytes of a body of 2 MiB. */
async function ask(accountId: string, sentBytes: number): Promise<RawConnection> {
  const connection = await openRawConnection(target.port);
  waiting.push(connection);
  const lines = `Host: a\r\nX-Account: ${accountId}\r\nContent-Length: ${2 * MIB}\r\n`;
  connection.send(`POST /ask HTTP/1.1\r\n${lines}\r\n`);
  connection.send(new Uint8Array(sentBytes));
  return connection;
}

async function fillShare(accountId: string, sentBytes: number): Promise<void> {
  for (let count = 1; count <= 4; count++) {
    await ask(accountId, sentBytes);
    const isHeld = () => target.server.heldBodyBytes === count * 2 * MIB;
    await waitUntil(isHeld, `${count} bodies are held`);
  }
}

describe('the memory for bodies of customers', () => {
  it.each([
    ['arrive', 2 * MIB - 1, true],
    ['wait for their answer', 2 * MIB, true],
    ['wait, and were those of unknown keys when they began', 2 * MIB, false],
  ])('goes to one account by half at most, while its bodies %s', async (_, sentBytes, known) => {
    isKnown = known;
    await start();
    await fillShare('greedy', sentBytes);
    const refused = await ask('greedy', 2 * MIB);
    await refused.waitFor(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1\r\n/);
    const other = await ask('modest', 2 * MIB);
    await waitUntil(() => target.server.heldBodyBytes === 10 * MIB, 'the other one is held');
    answering.resolve();
    await other.waitFor(/^HTTP\/1\.1 200 /);
    for (const connection of waiting) connection.destroy();
    await waitUntil(() => target.server.heldBodyBytes === 0, 'all is given back');
  });

  it('is free again when the requests have ended', async () => {
    await start();
    await fillShare('greedy', 2 * MIB);
    answering.resolve();
    await waitUntil(() => target.server.heldBodyBytes === 0, 'all is given back');
    for (let count = 0; count < 4; count++) {
      const connection = await ask('greedy', 2 * MIB);
      await connection.waitFor(/^HTTP\/1\.1 200 /);
    }
    expect(target.server.heldBodyBytes).toBe(0);
  });
});

it('a body that nobody reads takes no memory while its handler waits', async () => {
  answering = createDeferred();
  let asked = 0;
  const wait = async (exchange: Exchange) => {
    asked += 1;
    await answering.promise;
    exchange.answerJson(200, {});
  };
  target = await startTestServer({ 'POST /ask': wait }, {}, 60_000, { ignoresBody: true });
  const connection = await ask('acc_1', 2 * MIB);
  await waitUntil(() => asked === 1, 'the handler waits');
  expect(target.server.heldBodyBytes).toBe(0);
  answering.resolve();
  await connection.waitFor(/^HTTP\/1\.1 200 /);
});
