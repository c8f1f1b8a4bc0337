import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { readKeyOrigin } from '../../../src/keys/read-key-origin.ts';
import { relayToApi } from '../../../src/ops/relay-to-api.ts';

/** What an API with so many proxies in front is sent by the playground. */
async function findSentHeaders(trustedProxies: number): Promise<IncomingHttpHeaders> {
  const api = createServer().listen(0, '127.0.0.1');
  const caller = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => {
    for (const server of [api, caller]) server.close();
  });
  await Promise.all([once(api, 'listening'), once(caller, 'listening')]);
  const portOf = (server: typeof api) => (server.address() as AddressInfo).port;
  let sent: IncomingHttpHeaders = {};
  api.on('request', (request, response) => {
    sent = request.headers;
    response.end();
  });
  const endpoint = { kind: 'tcp' as const, host: '127.0.0.1', port: portOf(api) };
  const asked = { path: '/', headers: {}, body: '' };
  caller.on('request', (_request, response) => {
    void relayToApi({ endpoint, trustedProxies }, asked, response);
  });
  const answer = await fetch(`http://127.0.0.1:${portOf(caller)}`);
  await answer.text();
  return sent;
}

it.each([0, 1, 2])('comes as if through %d proxies', async (trustedProxies) => {
  const headers = await findSentHeaders(trustedProxies);
  const forwardedFor = headers['x-forwarded-for'] as string | undefined;
  const peerAddress = '203.0.113.1';
  expect(readKeyOrigin({ peerAddress, forwardedFor, trustedProxies })).toMatchObject({
    address: trustedProxies === 0 ? peerAddress : '127.0.0.1',
    claimed: undefined,
    cameDirectly: false,
  });
});
