import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { sendLines } from '../../../src/ops/send-lines.ts';

it('cuts off a reader that stalls, which is no error', async () => {
  const { timeout } = AbortSignal;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout.call(AbortSignal, 50));
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const reader = connect(port, '127.0.0.1').pause();
  onTestFinished(() => {
    vi.restoreAllMocks();
    reader.destroy();
    server.close();
  });
  reader.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];

  const ended = vi.fn();
  async function* countForEver() {
    try {
      for (;;) yield 'x'.repeat(65_536);
    } finally {
      ended();
    }
  }
  await sendLines(response, countForEver());
  expect([response.destroyed, response.writableFinished]).toEqual([true, false]);
  expect(ended).toHaveBeenCalledOnce();
});
