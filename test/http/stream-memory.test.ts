import { get } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { openRawConnection } from '../support/clients/raw-connection.ts';
import { startTestServer, type TestServer } from '../support/servers/start-test-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const STREAM_HEAD = { status: 200, headers: { 'content-type': 'text/event-stream' } };
const PIECE_BYTES = 64 * 1024;
const GOOD = 0x61;
const SPOILT = 0x7a;

let target: TestServer;
afterEach(() => target.server.close());

describe('the memory of a stream', () => {
  it('has no place for the body of its request', async () => {
    target = await startTestServer({
      'POST /stream': async (exchange) => {
        await exchange.body();
        exchange.startStream(STREAM_HEAD).write('data: begun\n\n');
        await new Promise<void>((resolve) => exchange.signal.addEventListener('abort', resolve));
      },
    });
    const client = await openRawConnection(target.port);
    client.send(`POST /stream HTTP/1.1\r\nHost: a\r\nContent-Length: ${PIECE_BYTES}\r\n\r\n`);
    client.send(new Uint8Array(PIECE_BYTES - 1));
    await waitUntil(() => target.server.heldBodyBytes === PIECE_BYTES, 'the body is held');
    client.send('x');
    await client.waitFor(/begun/);
    expect(target.server.heldBodyBytes).toBe(0);
    client.destroy();
  });

  it('is its own, where the client does not take at once what was written', async () => {
    let isHeldUp = false;
    let writtenBytes = 0;
    target = await startTestServer({
      'GET /stream': async (exchange) => {
        const stream = exchange.startStream(STREAM_HEAD);
        const memory = Buffer.alloc(PIECE_BYTES);
        for (let drained: Promise<void> | undefined; !isHeldUp; ) {
          memory.fill(GOOD);
          drained = stream.write(memory);
          writtenBytes += PIECE_BYTES;
          memory.fill(SPOILT);
          isHeldUp = drained !== undefined && writtenBytes > 64 * PIECE_BYTES;
          await drained;
        }
        stream.endStream();
      },
    });
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      get(`${target.url}/stream`, async (response) => {
        const pieces: Buffer[] = [];
        for await (const piece of response) pieces.push(piece);
        resolve(Buffer.concat(pieces));
      }).on('error', reject);
    });
    expect(bytes.length).toBe(writtenBytes);
    expect(bytes.includes(SPOILT)).toBe(false);
  });
});
