import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { HAIKU } from '../../support/clients/ask-model.ts';
import { startCollector } from '../../support/servers/start-collector.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  type HttpUpstream,
  startHttpUpstream,
  UPSTREAM_ANSWER,
} from '../../support/upstreams/start-http-upstream.ts';

type ValueOf<Values> = Values extends fc.Arbitrary<infer Value> ? Value : never;

/** Secrets read the same in a header, a body and an error, and none is part of another. */
const secretOf = (name: string) =>
  fc.stringMatching(/^[a-zA-Z0-9]{14,30}$/).map((text) => `zq${name}${text}`);
const secrets = fc.record({
  prompt: secretOf('prompt'),
  answer: secretOf('answer'),
  adminToken: secretOf('adminToken'),
  upstreamKey: secretOf('upstreamKey'),
  collectorToken: secretOf('collectorToken'),
  wrongKey: secretOf('wrongKey'),
  header: secretOf('header'),
});
type Secrets = ValueOf<typeof secrets>;

const ways = ['whole', 'stream', 'refuse', 'break', 'garble', 'echo'] as const;
const request = fc.record({
  path: fc.constantFrom(
    '/v1/messages',
    '/v1/chat/completions',
    '/v1/messages/count_tokens',
    '/v1/x',
  ),
  key: fc.constantFrom('good', 'wrong', 'none'),
  model: fc.constantFrom(HAIKU, 'secret'),
  body: fc.constantFrom('right', 'wrong field', 'no json'),
  way: fc.constantFrom(...ways),
});
type Request = ValueOf<typeof request>;

function answerOf(way: string, { answer, upstreamKey, prompt }: Secrets) {
  const message = { ...UPSTREAM_ANSWER, content: [{ type: 'text', text: answer }] };
  const events = [
    { type: 'message_start', message: { ...message, content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: answer } },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
  const error = { type: 'api_error', message: `${answer} ${upstreamKey} ${prompt}` };
  switch (way) {
    case 'whole':
      return { status: 200, type: 'application/json', body: JSON.stringify(message) };
    case 'refuse':
      return { status: 400, type: 'application/json', body: JSON.stringify({ error }) };
    case 'echo':
      return { status: 401, type: 'application/json', body: JSON.stringify({ error }) };
    case 'garble':
      return { status: 200, type: 'application/json', body: `{"${answer}": ${upstreamKey}` };
    default:
      // The stream breaks off after the first words.
      return { status: 200, type: 'text/event-stream', body: events };
  }
}

/** An upstream that answers in the way that the prompt ends with. */
function startTelltale(all: Secrets): Promise<HttpUpstream> {
  return startHttpUpstream({
    cleanUp: onTestFinished,
    answer(asked, response) {
      const way = ways.find((each) => asked.body.includes(`-${each}-`)) ?? 'whole';
      const { status, type, body } = answerOf(way, all);
      response.writeHead(status, { 'content-type': type, 'x-secret': all.answer }).write(body);
      if (way === 'break') response.destroy();
      else response.end();
    },
  });
}

async function send(gateway: Gateway, all: Secrets, { path, key, model, body, way }: Request) {
  const keys = { good: gateway.key(), wrong: `sk-gw2-${all.wrongKey}`, none: '' };
  const asked = {
    model: model === 'secret' ? all.prompt : model,
    max_tokens: 50,
    stream: way === 'stream' || way === 'break',
    messages: [{ role: 'user', content: `${all.prompt} -${way}-` }],
    ...(body === 'wrong field' && { temperature: all.prompt }),
  };
  const text = JSON.stringify(asked);
  const response = await fetch(`${gateway.url}${path}?q=${all.header}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'llm-version': '2023-06-01',
      ...(key !== 'none' && { 'x-api-key': keys[key] }),
      'user-agent': all.header,
      'x-other': all.header,
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      tracestate: `${all.header.toLowerCase()}=${all.header}`,
    },
    body: body === 'no json' ? text.slice(0, -1) : text,
  });
  await response.text().catch(() => '');
}

/** Uses the token of an operator where it belongs, and as if it were a key. */
async function sendToken(gateway: Gateway, token: string) {
  const authorization = `Bearer ${token}`;
  for (const url of [`${gateway.opsUrl}/admin/v1/models`, `${gateway.url}/v1/models`]) {
    const response = await fetch(url, { headers: { authorization } });
    expect(await response.text()).not.toContain(token.slice(4));
  }
  const asked = await fetch(`${gateway.url}/v1/messages`, {
    ...{ method: 'POST', body: '{}' },
    headers: { 'x-api-key': token, 'content-type': 'application/json' },
  });
  expect(await asked.text()).not.toContain(token.slice(4));
}

it('no line of the log has a prompt, an answer, a key, a token or a header in it', async () => {
  const seed = Date.now();
  const [all] = fc.sample(secrets, { seed, numRuns: 1 });
  const requests = fc.sample(request, { seed, numRuns: 150 });
  if (all === undefined) throw new Error('there is no sample');
  const upstream = await startTelltale(all);
  const collector = await startCollector({ answer: () => 400, cleanUp: onTestFinished });
  const gateway = await startGateway({
    config: `workers: 1
log_level: debug
request_log: all
guards: {failed_keys_per_minute: 100000}
ops: {admin_token: ${all.adminToken}}
tracing: {endpoint: "${collector.endpoint}", headers: {authorization: "Bearer ${all.collectorToken}"}}
upstreams: [{name: main, kind: native, url: "${upstream.url}", api_key: ${all.upstreamKey}}]
`,
  });
  const good = { path: '/v1/messages', key: 'good', model: HAIKU, body: 'right' } as const;
  for (const way of ways) await send(gateway, all, { ...good, way });
  await Promise.all(requests.map((each) => send(gateway, all, each)));
  for (const token of [all.adminToken, all.wrongKey]) {
    await fetch(`${gateway.opsUrl}/admin/v1/accounts?${all.header}`, {
      headers: { authorization: `Bearer ${token}` },
    });
  }
  const post = async (path: string, body: object) => {
    const response = await fetch(`${gateway.opsUrl}/admin/v1${path}`, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { authorization: `Bearer ${all.adminToken}`, 'content-type': 'application/json' },
    });
    return (await response.json()) as { readonly id: string; readonly token: string };
  };
  const operator = await post('/operators', { name: 'Ada', role: 'operator' });
  await sendToken(gateway, operator.token);
  await post(`/operators/${operator.id}/revoke`, {});
  await sendToken(gateway, operator.token);
  const key = gateway.key();
  gateway.signal('SIGTERM');
  expect(await gateway.waitForExit()).toBe(0);

  // The secrets really went everywhere, and there is output to search.
  expect(upstream.requests.some(({ body }) => body.includes(all.prompt))).toBe(true);
  expect(upstream.requests[0]?.headers['x-api-key']).toBe(all.upstreamKey);
  expect(collector.headers[0]?.authorization).toBe(`Bearer ${all.collectorToken}`);
  const outcomes = gateway.logLines().map((line) => line['outcome']);
  expect(outcomes).toEqual(
    expect.arrayContaining(['complete', 'failed', 'undelivered', 'refused']),
  );
  const written = gateway.stderr().toLowerCase();
  const spans = collector.bodies.join().toLowerCase();
  for (const [name, text] of Object.entries({ ...all, key, operator: operator.token })) {
    expect(written.includes(text.toLowerCase()), `the log has ${name}; seed ${seed}`).toBe(false);
    // Collectors receive the state of the client's trace on purpose.
    if (name === 'header') continue;
    expect(spans.includes(text.toLowerCase()), `a span has ${name}; seed ${seed}`).toBe(false);
  }
});
