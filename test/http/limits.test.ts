import { afterEach, describe, expect, it } from 'vitest';
import type { HttpLimits } from '../../src/http/http-limits.ts';
import { openRawConnection, type RawConnection } from '../support/clients/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const MIB = 1024 * 1024;

let target: TestServer;
const servers: TestServer[] = [];
/** What handlers were told in place of a body. */
const told: unknown[] = [];
afterEach(() => {
  for (const { server } of servers.splice(0)) server.close();
});

const start = async (limits: Partial<HttpLimits>) => {
  target = await startTestServer(
    {
      'GET /hello': (exchange) => exchange.answerJson(200, { hello: 'world' }),
      'POST /size': async (exchange) =>
        exchange.answerJson(200, { size: (await exchange.body()).byteLength }),
      'POST /stranger': async (exchange) => {
        const origin = { address: exchange.header('x-from') ?? 'somewhere' };
        const body = await exchange.body({ accountId: undefined, origin });
        exchange.answerJson(200, { size: body.byteLength });
      },
      'POST /notes': async (exchange) => {
        await exchange.body().catch((error: unknown) => {
          told.push(error);
          throw error;
        });
      },
      'POST /refuses': (exchange) => exchange.answerJson(401, { refused: true }),
    },
    limits,
  );
  servers.push(target);
};

describe('the limits of a request body', () => {
  it('end a body that is too slow with 408 and a closed connection', async () => {
    await start({ bodyTimeMaxMs: 300 });
    const connection = await openRawConnection(target.port);
    connection.send('POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123');
    await connection.waitForClose();
    expect(connection.received()).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
    expect(connection.received()).toContain('did not arrive within 0.3 seconds');
    expect(connection.received()).toMatch(/connection: close/i);
  });

  it('tell a handler that waits for the body what the client is told', async () => {
    const answers: string[] = [];
    for (const [limits, announced, body] of [
      [{ bodyTimeMaxMs: 300 }, 10, '123'],
      [{ bodyBytesMax: 1_000, bodyDiscardedBytesMax: 1_000 }, 9_000, 'x'.repeat(3_000)],
    ] as const) {
      await start(limits);
      const connection = await openRawConnection(target.port);
      connection.send(
        `POST /notes HTTP/1.1\r\nHost: a\r\nContent-Length: ${announced}\r\n\r\n${body}`,
      );
      await connection.waitForClose();
      answers.push(connection.received().slice(0, 12));
      expect(target.log.lines).toEqual([]);
    }
    expect(answers).toEqual(['HTTP/1.1 408', 'HTTP/1.1 413']);
    expect(told).toMatchObject([{ refusal: 'body_too_slow' }, { refusal: 'body_too_large' }]);
  });

  it('give an early refusal to a client that never ends its body', async () => {
    await start({ bodyTimeMaxMs: 300 });
    const connection = await openRawConnection(target.port);
    connection.send('POST /refuses HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123');
    await connection.waitForClose();
    expect(connection.received()).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/);
  });

  it('leave a slow but steady upload alone for longer than uWS would', async () => {
    await start({});
    const connection = await openRawConnection(target.port);
    const seconds = 16;
    connection.send(`POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: ${seconds}\r\n\r\n`);
    let sent = 0;
    const timer = setInterval(() => {
      connection.send('x');
      if (++sent === seconds) clearInterval(timer);
    }, 1_000);
    await connection.waitFor(/"size":16\}$/);
    connection.destroy();
  });

  it('stop reading a body that goes on far beyond its limit', async () => {
    await start({ bodyBytesMax: 1_000, bodyDiscardedBytesMax: MIB });
    const connection = await openRawConnection(target.port);
    connection.send(`POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: ${1_000 * MIB}\r\n\r\n`);
    const piece = new Uint8Array(64 * 1024);
    const pump = () => {
      while (!connection.isClosed() && connection.socket.write(piece)) {}
    };
    connection.socket.on('drain', pump);
    pump();
    await connection.waitForClose();
    expect(connection.socket.bytesWritten).toBeLessThan(64 * MIB);
    expect((await fetch(`${target.url}/hello`)).status).toBe(200);
  });

  it('keep all bodies together within the budget, and refuse the others with 503', async () => {
    await start({ bodiesHeldBytesMax: 1.5 * MIB });
    const slow = await openRawConnection(target.port);
    slow.send(`POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: ${MIB}\r\n\r\n`);
    slow.send(new Uint8Array(MIB - 1));
    await waitUntil(() => target.server.heldBodyBytes === MIB, 'the first body is held');

    const refused = await fetch(`${target.url}/size`, {
      method: 'POST',
      body: new Uint8Array(MIB),
    });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({ error: { type: 'overloaded_error' } });

    slow.send('x');
    await slow.waitFor(/"size":1048576\}$/);
    slow.destroy();
    const accepted = await fetch(`${target.url}/size`, {
      method: 'POST',
      body: new Uint8Array(MIB),
    });
    expect(accepted.status).toBe(200);
  });

  describe('for strangers', () => {
    const waiting: RawConnection[] = [];
    afterEach(() => {
      for (const connection of waiting.splice(0)) connection.destroy();
    });

    /** Opens a request that announces more bytes than it sends. */
    const wait = async (from: string, announced: number, sent: number) => {
      const connection = await openRawConnection(target.port);
      waiting.push(connection);
      const lines = `Host: a\r\nX-From: ${from}\r\nContent-Length: ${announced}\r\n`;
      connection.send(`POST /stranger HTTP/1.1\r\n${lines}\r\n`);
      connection.send(new Uint8Array(sent));
      return connection;
    };
    const send = (from: string | undefined, bytes: number) =>
      fetch(`${target.url}${from === undefined ? '/size' : '/stranger'}`, {
        method: 'POST',
        headers: from === undefined ? {} : { 'x-from': from },
        body: new Uint8Array(bytes),
      });
    const heldBytes = () => target.server.heldBodyBytes;

    it('count what came, and not what was announced', async () => {
      await start({ bodiesHeldBytesMax: 16 * MIB, strangersHeldBytesMax: 8 * MIB });
      for (let i = 0; i < 100; i++) await wait('one place', MIB, 200);
      await waitUntil(() => heldBytes() >= 100 * 200, 'all bodies have begun');
      expect((await send('elsewhere', MIB)).status).toBe(200);
      expect((await send(undefined, 8 * MIB)).status).toBe(200);
      expect(heldBytes()).toBeLessThan(4 * MIB);
    });

    it('leave the rest of the memory to clients that are known, however much they send', async () => {
      await start({ bodiesHeldBytesMax: 16 * MIB, strangersHeldBytesMax: 2 * MIB });
      for (let i = 0; i < 20; i++) await wait(`place ${i}`, MIB, MIB - 1);
      await waitUntil(() => heldBytes() >= MIB, 'some bodies are nearly there');
      expect(heldBytes()).toBeLessThanOrEqual(2 * MIB);
      expect((await send(undefined, 13 * MIB)).status).toBe(200);
    });

    it('let the address that takes most give way to a newcomer, with what is oldest there', async () => {
      await start({ bodiesHeldBytesMax: 16 * MIB, strangersHeldBytesMax: 4 * MIB });
      const busy: RawConnection[] = [];
      for (let i = 0; i < 4; i++) {
        busy.push(await wait('one place', MIB, MIB - 1));
        await waitUntil(() => heldBytes() === (i + 1) * MIB, `body ${i} is nearly there`);
      }
      expect((await send('elsewhere', MIB)).status).toBe(200);
      for (const connection of busy) connection.send('x');
      await busy[0]?.waitFor(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1\r\n/);
      for (const connection of busy.slice(1)) await connection.waitFor(/"size":1048576\}$/);
    });

    it('let those who wait give way at their own address too', async () => {
      await start({ bodiesHeldBytesMax: 16 * MIB, strangersHeldBytesMax: 2 * MIB });
      for (let i = 0; i < 200; i++) await wait('one proxy', MIB, 20_000);
      await waitUntil(() => heldBytes() > MIB, 'the share is taken');
      for (let i = 0; i < 5; i++) expect((await send('one proxy', MIB)).status).toBe(200);
      expect(heldBytes()).toBeLessThanOrEqual(2 * MIB);
    });

    it('give way to clients that are known where all memory is taken', async () => {
      await start({ bodiesHeldBytesMax: 2 * MIB, strangersHeldBytesMax: MIB });
      await wait('one place', MIB, MIB - 1);
      await waitUntil(() => heldBytes() === MIB, 'the share is taken');
      expect((await send(undefined, 1.9 * MIB)).status).toBe(200);
    });

    it('refuse what is larger than their share, and keep nothing of it', async () => {
      await start({ bodiesHeldBytesMax: 16 * MIB, strangersHeldBytesMax: MIB });
      const refused = await send('one place', 2 * MIB);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(heldBytes()).toBe(0);
    });

    it('hold nothing when they have left', async () => {
      await start({});
      const connections = await Promise.all([1, 2, 3].map(() => wait('one place', MIB, 50_000)));
      await waitUntil(() => heldBytes() > 0, 'their bodies have begun');
      for (const connection of connections) connection.destroy();
      await waitUntil(() => heldBytes() === 0, 'all is given back');
    });
  });

  it('set no memory aside for a length that is only announced', async () => {
    await start({});
    const connection = await openRawConnection(target.port);
    connection.send(`POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: ${30 * MIB}\r\n\r\nx`);
    await waitUntil(() => target.server.heldBodyBytes > 0, 'the first byte is held');
    expect(target.server.heldBodyBytes).toBeLessThan(MIB);
    connection.destroy();
  });
});
