import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HAIKU, messageOf } from '../../support/clients/ask-model.ts';
import {
  type CollectedSpan,
  type Collector,
  startCollector,
} from '../../support/servers/start-collector.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  type HttpUpstream,
  startHttpUpstream,
} from '../../support/upstreams/start-http-upstream.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CLIENT_SPAN_ID = '00f067aa0ba902b7';
const FAST = '{kind: simulated, name: fast, simulated: {tokens_per_second: 0, latency: 1ms}}';

interface Start {
  readonly upstreams?: string;
  readonly tracing?: string;
  readonly collector?: Collector;
}

/** Starts a gateway of which a test needs the end, or settings of its own. */
async function start({ upstreams = FAST, tracing = '', collector }: Start = {}) {
  const to = collector ?? (await startCollector({ cleanUp: onTestFinished }));
  const gateway = await startGateway({
    config: `workers: 1\nrequest_log: all\ntracing: {endpoint: "${to.endpoint}"${tracing}}\nupstreams: [${upstreams}]\n`,
  });
  return { gateway, collector: to };
}

async function ask(gateway: Gateway, text: string, more: object = {}, headers: object = {}) {
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': gateway.key(),
      'llm-version': '2023-06-01',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(messageOf(text, more)),
  });
  await response.text();
  return { status: response.status, requestId: response.headers.get('request-id') ?? '' };
}

/** The spans of one request, starting with the request's own span. */
async function spansOf(collector: Collector, requestId: string): Promise<CollectedSpan[]> {
  const findOwn = () =>
    collector.spans.find((span) => span.attributes['tollgate.request.id'] === requestId);
  await waitUntil(() => findOwn() !== undefined, 'the request is exported');
  expect(collector.problems).toEqual([]);
  const own = findOwn();
  return own === undefined
    ? []
    : [own, ...collector.spans.filter((span) => span.parentSpanId === own.spanId)];
}

describe('a request that is traced', () => {
  const cleanUp = useCleanUp();
  let upstream: HttpUpstream;
  let collector: Collector;
  let gateway: Gateway;

  beforeAll(async () => {
    upstream = await startHttpUpstream({ cleanUp });
    collector = await startCollector({ cleanUp });
    const model = 'max_output_tokens: 8192, price: {input: 1, output: 5}';
    const config = `
workers: 1
request_log: all
tracing: {endpoint: "${collector.endpoint}", headers: {authorization: "Bearer top secret"}}
models:
  - {id: ${HAIKU}, ${model}, routes: [{upstream: main}]}
  - {id: simulated, ${model}, routes: [{upstream: fast}]}
  - {id: lost, ${model}, routes: [{upstream: down}, {upstream: gone}]}
upstreams:
  - {name: main, kind: native, url: "${upstream.url}"}
  - ${FAST}
  - {name: down, kind: native, url: "http://127.0.0.1:1"}
  - {name: gone, kind: chat, url: "http://127.0.0.1:1"}
`;
    gateway = await startGateway({ config, cleanUp });
  });

  it('is a span with its admission and its call, with the attributes of the conventions', async () => {
    const { requestId } = await ask(gateway, 'Hi');
    const [own, admit, call, ...others] = await spansOf(collector, requestId);
    expect(own).toMatchObject({ name: `chat ${HAIKU}`, kind: 2, status: {}, flags: 3 });
    expect(own).not.toHaveProperty('parentSpanId');
    expect(own?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/messages',
      'http.response.status_code': 200,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'main',
      'gen_ai.request.model': HAIKU,
      'gen_ai.request.stream': false,
      'gen_ai.response.model': HAIKU,
      'gen_ai.usage.input_tokens': 24,
      'gen_ai.usage.output_tokens': 34,
      'gen_ai.usage.cache_read.input_tokens': 5,
      'gen_ai.usage.cache_creation.input_tokens': 7,
      'tollgate.outcome': 'complete',
    });
    expect(own?.attributes['tollgate.credits']).toBeGreaterThan(0);
    expect(own?.attributes).not.toHaveProperty('error.type');
    expect(admit).toMatchObject({ name: 'admit', kind: 1, traceId: own?.traceId });
    expect(call).toMatchObject({ name: 'call main', kind: 3, traceId: own?.traceId });
    expect(call?.attributes).toMatchObject({
      'tollgate.result': 'ok',
      'tollgate.upstream': 'main',
    });
    expect(others).toEqual([]);
    for (const child of [admit, call]) {
      expect(BigInt(child?.startTimeUnixNano ?? 0)).toBeGreaterThanOrEqual(
        BigInt(own?.startTimeUnixNano ?? 0),
      );
      expect(BigInt(child?.endTimeUnixNano ?? 0)).toBeLessThanOrEqual(
        BigInt(own?.endTimeUnixNano ?? 0),
      );
    }
    expect(upstream.requests[0]?.headers['traceparent']).toBe(
      `00-${own?.traceId}-${call?.spanId}-03`,
    );
    expect(collector.headers[0]).toMatchObject({ authorization: 'Bearer top secret' });
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'tollgate' });
    expect(await gateway.waitForRequestLine(requestId)).toMatchObject({ traceId: own?.traceId });
  });

  it("goes on the client's trace, and is left out where the client leaves its own part out", async () => {
    const traceparent = (flags: string) => `00-${TRACE_ID}-${CLIENT_SPAN_ID}-${flags}`;
    const unwanted = await ask(gateway, 'Hi', {}, { traceparent: traceparent('00') });
    const wanted = await ask(
      gateway,
      'Hi',
      {},
      { traceparent: traceparent('01'), tracestate: 'a=1' },
    );
    const [own, ...children] = await spansOf(collector, wanted.requestId);
    expect(own).toMatchObject({ traceId: TRACE_ID, parentSpanId: CLIENT_SPAN_ID, flags: 1 });
    expect(own?.traceState).toBe('a=1');
    expect(children.map(({ traceId }) => traceId)).toEqual([TRACE_ID, TRACE_ID]);
    const ids = collector.spans.map((span) => span.attributes['tollgate.request.id']);
    expect(ids).not.toContain(unwanted.requestId);
  });

  it('has a call for each try, and tells which of them failed', async () => {
    const { requestId, status } = await ask(gateway, 'Hi', { model: 'lost' });
    expect(status).toBe(502);
    const [own, ...children] = await spansOf(collector, requestId);
    expect(own).toMatchObject({ status: { code: 2, message: 'upstream_broken' } });
    expect(own?.attributes).toMatchObject({
      'error.type': 'upstream_broken',
      'http.response.status_code': 502,
      'tollgate.outcome': 'undelivered',
    });
    const calls = children.filter(({ name }) => name.startsWith('call '));
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(['call down', 'call gone']));
    for (const call of calls) {
      expect(call.status).toEqual({ code: 2, message: 'unreachable' });
      expect(call.attributes).toMatchObject({ 'error.type': 'unreachable' });
    }
  });

  it('is no error when the client is wrong', async () => {
    const { requestId } = await ask(gateway, 'Hi', { model: 'nobody' });
    const [own, ...children] = await spansOf(collector, requestId);
    expect(own).toMatchObject({ name: 'POST /v1/messages', status: {} });
    expect(own?.attributes).toMatchObject({
      'error.type': 'unknown_model',
      'http.response.status_code': 404,
    });
    expect(children).toEqual([]);
  });

  it('tells when a stream began, and that it failed', async () => {
    const { requestId } = await ask(gateway, '[[error 500 after 3]]', {
      ...{ model: 'simulated', stream: true },
    });
    const [own] = await spansOf(collector, requestId);
    expect(own).toMatchObject({ status: { code: 2, message: expect.any(String) } });
    expect(own?.attributes).toMatchObject({
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'http.response.status_code': 200,
      'tollgate.outcome': 'failed',
    });
  });
});

describe('the export of spans', () => {
  it('sends all that is left when the node ends', async () => {
    const { gateway, collector } = await start();
    const asked = await Promise.all(Array.from({ length: 30 }, () => ask(gateway, 'Hi')));
    gateway.signal('SIGTERM');
    expect(await gateway.waitForExit()).toBe(0);
    const ids = collector.spans.map((span) => span.attributes['tollgate.request.id']);
    expect(ids.filter((id) => id !== undefined).toSorted()).toEqual(
      asked.map(({ requestId }) => requestId).toSorted(),
    );
    expect(collector.problems).toEqual([]);
  });

  it.each([
    ['is out', 'http://127.0.0.1:1/v1/traces'],
    ['never answers', undefined],
  ])('harms no request and no end of the node when the collector %s', async (_how, endpoint) => {
    const silent = await startCollector({ answer: () => undefined, cleanUp: onTestFinished });
    const collector = { ...silent, endpoint: endpoint ?? silent.endpoint };
    const { gateway } = await start({ collector });
    expect((await ask(gateway, 'Hi')).status).toBe(200);
    gateway.signal('SIGTERM');
    expect(await gateway.waitForExit()).toBe(0);
    const lost = gateway.logLines().find(({ msg }) => msg === 'spans are lost');
    expect(lost).toMatchObject({ level: 40, dropped: 3 });
  });

  it('takes no request with a share of 0, and passes no trace on that nobody records', async () => {
    const upstream = await startHttpUpstream({ cleanUp: onTestFinished });
    const { gateway, collector } = await start({
      upstreams: `{name: main, kind: native, url: "${upstream.url}"}`,
      tracing: ', sample: 0',
    });
    await ask(gateway, 'Hi');
    gateway.signal('SIGTERM');
    await gateway.waitForExit();
    expect(collector.bodies).toEqual([]);
    expect(upstream.requests[0]?.headers).not.toHaveProperty('traceparent');
  });
});
