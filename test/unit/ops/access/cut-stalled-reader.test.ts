import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { cutStalledReader } from '../../../../src/ops/access/cut-stalled-reader.ts';

const BODY_BYTES = 40_000_000;

/** Asks for a long answer on a connection that reads nothing by itself. */
async function askAndStall(stallMaxMs: number) {
  const server = createServer((_request, response) => {
    response.end('x'.repeat(BODY_BYTES));
    cutStalledReader(response, stallMaxMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const reader = connect(port, '127.0.0.1').pause();
  onTestFinished(() => {
    reader.destroy();
    server.close();
  });
  const asked = once(server, 'request');
  const ask = () => reader.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  ask();
  const [, response] = (await asked) as [unknown, ServerResponse];
  let bytes = 0;
  reader.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  return { reader, response, ask, bytes: () => bytes };
}

it('an answer that nobody reads is given up', async () => {
  const { reader, response, bytes } = await askAndStall(50);
  await once(response, 'close');
  const closed = once(reader, 'close');
  reader.on('error', () => {}).resume();
  await closed;
  expect(bytes()).toBeLessThan(BODY_BYTES);
});

it('who reads gets all of an answer, and may ask again', async () => {
  const { reader, ask, bytes } = await askAndStall(60_000);
  reader.resume();
  while (bytes() < BODY_BYTES) await once(reader, 'data');
  ask();
  while (bytes() < 2 * BODY_BYTES) await once(reader, 'data');
});
