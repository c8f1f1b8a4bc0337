import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/http/exchange.ts';
import type { HttpLimits } from '../../src/http/http-limits.ts';
import { openRawConnection } from '../support/clients/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const STREAM_HEAD = { status: 200, headers: { 'content-type': 'text/event-stream' } };

let target: TestServer;
afterEach(() => target.server.close());

const start = async (
  handle: (exchange: Exchange) => void | Promise<void>,
  limits: Partial<HttpLimits> = {},
) => {
  target = await startTestServer({ 'GET /stream': handle }, limits);
};

/** Bytes before the last ones, and the last ones. The first three fit into what is sent at once. */
const LAST_SIZES = [
  ...[
    [0, 100],
    [5_000, 5_000],
    [0, 15_000],
    [12_000, 12_000],
    [5_000, 15_900],
    [30_000, 1],
  ],
  ...[
    [30_000, 3_000_000],
    [100, 0],
    [0, 0],
  ],
] as const;

/** Bytes that differ everywhere, so that a lost, doubled or moved piece changes the hash. */
function createPiece(bytes: number, seed: number): Buffer {
  const piece = Buffer.allocUnsafe(bytes);
  for (let i = 0; i < bytes; i++) piece[i] = (i * 31 + seed * 17 + (i >> 8)) & 0xff;
  return piece;
}

/** Reads a whole answer, pausing after each read. Returns its length and hash. */
function readSlowly(pauseMs: number): Promise<{ bytes: number; sha256: string }> {
  return new Promise((resolve, reject) => {
    get(`${target.url}/stream`, async (response) => {
      const hash = createHash('sha256');
      let bytes = 0;
      try {
        for await (const data of response) {
          hash.update(data);
          bytes += data.length;
          await sleep(pauseMs);
        }
        resolve({ bytes, sha256: hash.digest('hex') });
      } catch (error) {
        reject(error);
      }
    }).on('error', reject);
  });
}

/** An answer that is silent for longer than uWS keeps a connection, while the other tests run. */
let silent: { readonly target: TestServer; readonly text: Promise<string> };
beforeAll(async () => {
  const target = await startTestServer({
    'GET /stream': async (exchange) => {
      const stream = exchange.startStream(STREAM_HEAD);
      await stream.write('data: 1\n\n');
      await sleep(14_000);
      await stream.write('data: 2\n\n');
      stream.endStream();
    },
  });
  const text = fetch(`${target.url}/stream`).then((response) => response.text());
  text.catch(() => {});
  silent = { target, text };
});
afterAll(() => silent.target.server.close());

describe('a stream', () => {
  it('reaches the client piece by piece', async () => {
    let goOn: () => void = () => {};
    await start(async (exchange) => {
      const stream = exchange.startStream(STREAM_HEAD);
      await stream.write('data: 1\n\n');
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await stream.write('data: 2\n\n');
      stream.endStream();
    });
    const connection = await openRawConnection(target.port);
    connection.send('GET /stream HTTP/1.1\r\nHost: a\r\n\r\n');
    await connection.waitFor(/data: 1\n\n/);
    expect(connection.received()).not.toContain('data: 2');
    goOn();
    await connection.waitFor(/data: 2\n\n\r\n0\r\n\r\n$/);
    connection.destroy();
  });

  for (const pieceBytes of [200, 5_000, 15_000, 15_872, 16_500, 40_000, 200_000]) {
    for (const isLate of [false, true]) {
      const when = isLate ? 'later' : 'in the synchronous part of the handler';
      it(`arrives byte for byte at a slow reader [pieces of ${pieceBytes} bytes, written ${when}]`, async () => {
        const pieces = Array.from(
          { length: Math.ceil(8_000_000 / pieceBytes / (pieceBytes < 1_000 ? 8 : 1)) },
          (_, i) => createPiece(pieceBytes, i),
        );
        const expected = createHash('sha256');
        for (const piece of pieces) expected.update(piece);
        await start(async (exchange) => {
          if (isLate) await sleep(1);
          const stream = exchange.startStream(STREAM_HEAD);
          for (const piece of pieces) {
            const drained = stream.write(piece);
            if (drained !== undefined) await drained;
          }
          stream.endStream();
        });
        const got = await readSlowly(2);
        expect(got.bytes).toBe(pieces.length * pieceBytes);
        expect(got.sha256).toBe(expected.digest('hex'));
      });
    }
  }

  for (const isLate of [false, true]) {
    const when = isLate ? 'later' : 'in the synchronous part of the handler';
    it(`has ended once its last bytes are written, whatever was written before [${when}]`, async () => {
      const ended: boolean[] = [];
      let n = 0;
      await start(async (exchange) => {
        if (isLate) await sleep(1);
        const stream = exchange.startStream(STREAM_HEAD);
        const first = stream.write(createPiece(LAST_SIZES[n]?.[0] ?? 0, 1));
        if (first !== undefined) await first;
        const last = stream.writeLast(createPiece(LAST_SIZES[n]?.[1] ?? 0, 2));
        n += 1;
        if (last !== undefined) await last;
        ended.push(stream.hasEnded);
        stream.endStream();
      });
      for (const [firstBytes, lastBytes] of LAST_SIZES) {
        const expected = createHash('sha256').update(createPiece(firstBytes, 1));
        const sha256 = expected.update(createPiece(lastBytes, 2)).digest('hex');
        expect(await readSlowly(0)).toEqual({ bytes: firstBytes + lastBytes, sha256 });
      }
      expect(ended.slice(0, 3)).toEqual([true, true, true]);
    });

    it(`a plain answer of 9 MB arrives byte for byte at a slow reader [late: ${isLate}]`, async () => {
      const body = createPiece(9_000_000, 1);
      await start(async (exchange) => {
        if (isLate) await sleep(1);
        exchange.answer({ status: 200, headers: {} }, body);
      });
      const got = await readSlowly(2);
      expect(got.bytes).toBe(body.length);
      expect(got.sha256).toBe(createHash('sha256').update(body).digest('hex'));
    });
  }

  it('is delivered to its last byte while the writer is silent', async () => {
    let written = 0;
    const markOf = (piece: number) => `the end of piece ${piece}.`;
    await start(async (exchange) => {
      const stream = exchange.startStream(STREAM_HEAD);
      let isHeld = false;
      while (!isHeld) {
        isHeld = stream.write(markOf(written + 1).padStart(12_000, '-')) !== undefined;
        written += 1;
      }
      await new Promise<void>((resolve) =>
        exchange.signal.addEventListener('abort', () => resolve()),
      );
    });
    const connection = await openRawConnection(target.port);
    connection.socket.pause();
    connection.send('GET /stream HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitUntil(
      () => written > 0 && target.server.activeExchanges === 1,
      'the writer is blocked',
    );
    connection.socket.resume();
    // The end of a chunk may lie within the mark.
    const received = () => connection.received().replace(/\r\n[0-9a-f]+\r\n/g, '');
    await waitUntil(() => received().includes(markOf(written)), 'all of it came');
    connection.destroy();
  });

  it('holds the writer back while the client reads nothing, and lets it go on afterwards', async () => {
    let written = 0;
    let wasHeldBack = false;
    await start(async (exchange) => {
      const stream = exchange.startStream(STREAM_HEAD);
      while (written < 20_000_000) {
        const drained = stream.write(createPiece(10_000, written));
        written += 10_000;
        if (drained !== undefined) {
          wasHeldBack = true;
          await drained;
        }
      }
      stream.endStream();
    });
    const connection = await openRawConnection(target.port);
    connection.socket.pause();
    connection.send('GET /stream HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitUntil(() => wasHeldBack, 'the writer is held back');
    expect(written).toBeLessThan(20_000_000);
    connection.socket.resume();
    await connection.waitFor(/\r\n0\r\n\r\n$/);
    connection.destroy();
  });

  it('cuts off a client that reads nothing for too long, and tells the handler', async () => {
    let reason: unknown;
    await start(
      async (exchange) => {
        const stream = exchange.startStream(STREAM_HEAD);
        exchange.signal.addEventListener('abort', () => {
          reason = exchange.signal.reason;
        });
        while (!exchange.signal.aborted) await stream.write(createPiece(10_000, 1));
      },
      { writeStallMaxMs: 300 },
    );
    const connection = await openRawConnection(target.port);
    connection.socket.pause();
    connection.send('GET /stream HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitUntil(() => reason !== undefined, 'the signal is aborted');
    expect(String(reason)).toContain('the client is gone');
    await waitUntil(() => target.server.activeExchanges === 0, 'the exchange is over');
    connection.destroy();
  });

  it('cuts off a client rather than queue without bound for a writer that does not wait', async () => {
    let writes = 0;
    await start(
      (exchange) =>
        new Promise((resolve) => {
          const stream = exchange.startStream(STREAM_HEAD);
          for (; !stream.isFinished; writes++) void stream.write(createPiece(10_000, 1));
          resolve();
        }),
      { streamQueueBytesMax: 100_000 },
    );
    const connection = await openRawConnection(target.port);
    connection.socket.pause();
    connection.send('GET /stream HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitUntil(
      () => writes > 0 && target.server.activeExchanges === 0,
      'the client is cut off',
    );
    connection.socket.resume();
    await connection.waitForClose();
    // The kernel holds less than 8 MB for a socket. Everything beyond that would be in our memory.
    expect(writes * 10_000).toBeLessThan(10_000_000);
  });

  it('of a client that keeps its connection open in silence is not timed out by uWS', async () => {
    expect(await silent.text).toBe('data: 1\n\ndata: 2\n\n');
  });
});
