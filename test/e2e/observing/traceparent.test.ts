import { beforeAll, describe, expect, it } from 'vitest';
import { messageOf } from '../../support/clients/ask-model.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  type HttpUpstream,
  startHttpUpstream,
} from '../../support/upstreams/start-http-upstream.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

const cleanUp = useCleanUp();
let upstream: HttpUpstream;
let gateway: Gateway;
beforeAll(async () => {
  upstream = await startHttpUpstream({ cleanUp });
  gateway = await startGateway({
    config: `workers: 1\nrequest_log: all\nupstreams: [{name: main, kind: native, url: "${upstream.url}"}]\n`,
    cleanUp,
  });
});

async function ask(headers: [string, string][]): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: [
      ['x-api-key', gateway.key()],
      ['llm-version', '2023-06-01'],
      ['content-type', 'application/json'],
      ...headers,
    ],
    body: JSON.stringify(messageOf('Hi')),
  });
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get('request-id') ?? '';
}

describe('the trace of a client', () => {
  it('is passed on to the upstream as it came, and its id is logged', async () => {
    const id = await ask([
      ['traceparent', TRACEPARENT],
      ['tracestate', 'congo=t61rcWkgMzE, rojo=00f067aa0ba902b7'],
    ]);
    expect(upstream.requests.at(-1)?.headers).toMatchObject({
      traceparent: TRACEPARENT,
      tracestate: 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7',
    });
    expect(await gateway.waitForRequestLine(id)).toMatchObject({ traceId: TRACE_ID });
  });

  it('is left out when it is none, or when there are two', async () => {
    const wrong: [string, string][][] = [
      [],
      [['tracestate', 'a=1']],
      [
        ['traceparent', `00-${TRACE_ID}-1-01`],
        ['tracestate', 'a=1'],
      ],
      [
        ['traceparent', TRACEPARENT],
        ['traceparent', TRACEPARENT],
      ],
    ];
    for (const headers of wrong) {
      const id = await ask(headers);
      const line = await gateway.waitForRequestLine(id);
      expect(line).not.toHaveProperty('traceId');
      expect(upstream.requests.at(-1)?.headers).not.toHaveProperty('traceparent');
      expect(upstream.requests.at(-1)?.headers).not.toHaveProperty('tracestate');
    }
  });
});
