import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/http/exchange.ts';
import { openRawConnection } from '../support/clients/raw-connection.ts';
import {
  chunked,
  GET_OK,
  get,
  HOST,
  MARK,
  post,
  REFUSED,
  SMUGGLED,
} from '../support/clients/raw-http-vectors.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

let target: TestServer;
const handled: string[] = [];
const held: Exchange[] = [];

beforeAll(async () => {
  const note = (what: string, exchange: Exchange) => handled.push(`${exchange.head.query} ${what}`);
  target = await startTestServer({
    'GET /ok': (exchange) => {
      note('ok', exchange);
      exchange.answerJson(200, {});
    },
    'GET /smuggled': (exchange) => {
      note('SMUGGLED', exchange);
      exchange.answerJson(200, {});
    },
    'GET /held': (exchange) => {
      note('held', exchange);
      held.push(exchange);
      return new Promise(() => {});
    },
    'POST /ok': async (exchange) => {
      const body = await exchange.body();
      note(`posted ${body.toString('latin1')}`, exchange);
      exchange.answer({ status: 200, headers: {} }, body);
    },
  });
});
afterAll(() => target.server.close());

let marks = 0;

/** Opens a connection whose paths carry a mark, and reports what the handlers received from it. */
async function openMarked() {
  const mark = (1_000 + marks++).toString();
  const connection = await openRawConnection(target.port);
  const fill = (text: string) => text.replaceAll(MARK, `?${mark}`);
  return {
    ...connection,
    fill,
    /** Sends each packet separately: the next one is written when the kernel has taken the last. */
    async sendPackets(packets: readonly string[]) {
      for (const packet of packets) {
        const bytes = Buffer.from(fill(packet), 'latin1');
        if (connection.isClosed()) return;
        await new Promise((resolve) => connection.socket.write(bytes, resolve));
        await setImmediate();
      }
    },
    handled: () =>
      handled
        .filter((line) => line.startsWith(`${mark} `))
        .map((line) => line.slice(mark.length + 1)),
    held: () => held.find((exchange) => exchange.head.query === mark),
    statuses: () =>
      [...connection.received().matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) =>
        Number(match[1]),
      ),
  };
}

async function expectFreshConnectionWorks() {
  const fresh = await openMarked();
  await fresh.sendPackets([GET_OK]);
  await fresh.waitFor(/\{\}$/);
  expect(fresh.statuses()).toEqual([200]);
  fresh.destroy();
}

describe.concurrent('a request that is refused', () => {
  for (const { name, packets } of REFUSED) {
    it(`runs no handler and ends its connection: ${name}`, async () => {
      const connection = await openMarked();
      await connection.sendPackets(packets);
      await connection.waitForClose();
      expect(connection.handled()).toEqual([]);
      expect(connection.statuses().filter((status) => status < 400)).toEqual([]);
      await expectFreshConnectionWorks();
    });
  }
});

const WELL_FORMED = {
  GET: { bytes: GET_OK, handled: 'ok' },
  'POST with a length': { bytes: post('Content-Length: 5\r\n', 'hello'), handled: 'posted hello' },
  'POST in chunks': {
    bytes: chunked('2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'),
    handled: 'posted hello',
  },
};

/** A complete answer. The answer to a chunked request is chunked. */
const ANSWERED = /^HTTP\/1.1 200 OK\r\n[\s\S]*(\{\}$|hello$|hello\r\n0\r\n)/;

describe.concurrent('a well-formed request', () => {
  for (const [name, request] of Object.entries(WELL_FORMED)) {
    it(`is understood wherever the network cuts it in two: ${name}`, async () => {
      for (let cut = 1; cut < request.bytes.length; cut++) {
        const connection = await openMarked();
        const bytes = connection.fill(request.bytes);
        await connection.sendPackets([bytes.slice(0, cut), bytes.slice(cut)]);
        await connection.waitFor(ANSWERED);
        expect(connection.handled(), `cut at ${cut}`).toEqual([request.handled]);
        connection.destroy();
      }
    });

    it(`is understood one byte at a time: ${name}`, async () => {
      const connection = await openMarked();
      await connection.sendPackets([...connection.fill(request.bytes)]);
      await connection.waitFor(ANSWERED);
      expect(connection.handled()).toEqual([request.handled]);
      connection.destroy();
    });
  }

  it('may follow another in the same packet, and is answered in order', async () => {
    const connection = await openMarked();
    await connection.sendPackets([GET_OK + SMUGGLED + GET_OK]);
    await connection.waitFor(/(HTTP\/1.1 200 OK[\s\S]*){3}\{\}$/);
    expect(connection.handled()).toEqual(['ok', 'SMUGGLED', 'ok']);
    connection.destroy();
  });

  it('may have a header whose value is the name of another that follows', async () => {
    const connection = await openMarked();
    const asked = 'Access-Control-Request-Headers: authorization\r\n';
    await connection.sendPackets([get(`${asked}Authorization: Bearer a\r\n`)]);
    await waitUntil(() => connection.received() !== '' || connection.isClosed(), 'it is over');
    expect(connection.statuses()).toEqual([200]);
    connection.destroy();
  });

  it('keeps what looks like a request in its body to itself', async () => {
    const connection = await openMarked();
    const body = connection.fill(SMUGGLED);
    await connection.sendPackets([
      get(`Content-Length: ${body.length}\r\n`) + body,
      post(`Content-Length: ${body.length}\r\n`, body),
    ]);
    await connection.waitFor(/(HTTP\/1.1 200 OK[\s\S]*){2}/);
    expect(connection.handled()).toEqual(['ok', `posted ${body}`]);
    connection.destroy();
  });

  it('with a URL of 100 KB gets an error or a closed connection, whichever its build does', async () => {
    const connection = await openMarked();
    await connection.sendPackets([`GET /${'a'.repeat(100_000)} HTTP/1.1\r\n${HOST}\r\n`]);
    await waitUntil(
      () => connection.isClosed() || connection.statuses().length > 0,
      'it is answered or closed',
    );
    expect(connection.statuses().filter((status) => status < 400)).toEqual([]);
    expect(connection.received().length).toBeLessThan(1_000);
    connection.destroy();
    await expectFreshConnectionWorks();
  });
});

describe.concurrent('a connection', () => {
  it('that sends nothing is closed', async () => {
    const connection = await openMarked();
    await connection.waitForClose();
  });

  it('that drips its headers is closed', async () => {
    const connection = await openMarked();
    const timer = setInterval(() => connection.send('X'), 1_000);
    connection.send(`GET /ok${MARK} HTTP/1.1\r\n`);
    await connection.waitForClose();
    clearInterval(timer);
    expect(connection.handled()).toEqual([]);
  });

  it('that sends a further request before the answer to the last is closed, and the answer is given up', async () => {
    const connection = await openMarked();
    await connection.sendPackets([`GET /held${MARK} HTTP/1.1\r\n${HOST}\r\n`, SMUGGLED]);
    await connection.waitForClose();
    expect(connection.handled()).toEqual(['held']);
    expect(connection.held()?.isFinished).toBe(true);
    await expectFreshConnectionWorks();
  });

  it('that is half closed by the client is given up', async () => {
    const connection = await openMarked();
    connection.socket.end(connection.fill(`GET /held${MARK} HTTP/1.1\r\n${HOST}\r\n`));
    await connection.waitForClose();
    expect(connection.handled()).toEqual(['held']);
    expect(connection.held()?.isFinished).toBe(true);
    await expectFreshConnectionWorks();
  });

  it('whose chunked body ends in trailers gets its answer, but no further request through', async () => {
    const connection = await openMarked();
    await connection.sendPackets([chunked(`5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n${SMUGGLED}`)]);
    await connection.waitForClose();
    expect(connection.handled()).toEqual(['posted hello']);
  });
});
