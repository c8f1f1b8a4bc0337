import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { sendSlowJson } from '../../../../src/ops/routes/send-slow-json.ts';

/** Asks for what the test ends. `failures` has what was thrown. */
async function ask(signOfLifeMs: number) {
  let resolve = (_body: object) => {};
  let reject = (_error: Error) => {};
  const body = new Promise<object>((...ends) => {
    [resolve, reject] = ends;
  });
  const failures: unknown[] = [];
  const server = createServer((_request, response) => {
    sendSlowJson(response, () => body, signOfLifeMs).catch((error: Error) => {
      failures.push(error);
      if (!response.headersSent) response.writeHead(503).end(error.message);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const arrived = once(server, 'request');
  return { answer: fetch(`http://127.0.0.1:${port}`), arrived, resolve, reject, failures };
}

it('an answer that takes long begins before it is there', async () => {
  const { answer, resolve } = await ask(1);
  const response = await answer;
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'application/json',
  ]);
  resolve({ nodes: [] });
  expect(await response.json()).toEqual({ nodes: [] });
});

it('a failure is a plain refusal before the answer has begun, and breaks it off afterwards', async () => {
  const early = await ask(3_600_000);
  await early.arrived;
  early.reject(new Error('Redis is out'));
  const refused = await early.answer;
  expect([refused.status, await refused.text()]).toEqual([503, 'Redis is out']);
  const late = await ask(1);
  const response = await late.answer;
  late.reject(new Error('Redis is out'));
  await expect(response.text()).rejects.toThrow();
  expect(late.failures).toHaveLength(1);
});
