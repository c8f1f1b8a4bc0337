import { afterEach, describe, expect, it } from 'vitest';
import type { HttpLimits } from '../../src/http/http-limits.ts';
import { openRawConnection } from '../support/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const MIB = 1024 * 1024;

let target: TestServer;
afterEach(() => target.server.close());

const start = async (limits: Partial<HttpLimits>) => {
  target = await startTestServer(
    {
      'GET /hello': (exchange) => exchange.answerJson(200, { hello: 'world' }),
      'POST /size': async (exchange) =>
        exchange.answerJson(200, { size: (await exchange.body()).byteLength }),
      'POST /refuses': (exchange) => exchange.answerJson(401, { refused: true }),
    },
    limits,
  );
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

  it('set no memory aside for a length that is only announced', async () => {
    await start({});
    const connection = await openRawConnection(target.port);
    connection.send(`POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: ${30 * MIB}\r\n\r\nx`);
    await waitUntil(() => target.server.heldBodyBytes > 0, 'the first byte is held');
    expect(target.server.heldBodyBytes).toBeLessThan(MIB);
    connection.destroy();
  });
});
