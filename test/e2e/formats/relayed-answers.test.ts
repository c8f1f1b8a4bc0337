import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';

const NATIVE_USAGE = { input_tokens: 10, output_tokens: 4, vendor_count: 3 };
const CITED = {
  type: 'text',
  text: 'Riga.',
  citations: [{ type: 'page_location', cited_text: 'Riga', page: 3 }],
};
const SERVER_TOOL = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { q: 'x' } };
const NATIVE_ANSWER = {
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  model: 'vendor-name',
  content: [SERVER_TOOL, CITED],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: NATIVE_USAGE,
  vendor_field: { kept: true },
};
/** They have spaces and fields that no encoder here writes. */
const NATIVE_EVENTS = [
  'event: content_block_start\ndata: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"Riga"}}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"vendor":1,"delta":{"type":"text_delta","text":"R\\u012bga"}}\n\n',
  ': a comment\n\n',
  'event: vendor_event\ndata: {"type":"vendor_event","x":[1, 2]}\n\n',
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
  `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4,"vendor":7}}\n\n`,
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
];
const NATIVE_START = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { ...NATIVE_ANSWER, content: [] } })}\n\n`;

const CHAT_USAGE = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14, vendor_count: 3 };
const CHAT_ANSWER = {
  id: 'chatcmpl-up',
  object: 'chat.completion',
  created: 1,
  model: 'vendor-name',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Riga.', annotations: [{ type: 'url_citation' }] },
      logprobs: { content: [{ token: 'Riga', logprob: -0.1 }] },
      finish_reason: 'stop',
    },
  ],
  usage: CHAT_USAGE,
  system_fingerprint: 'fp_1',
};
const chunk = (choices: string, more = '') =>
  `data: {"id":"chatcmpl-up","object":"chat.completion.chunk","created":1,"model":"vendor-name","choices":${choices}${more}}\n\n`;
const CHAT_DELTA =
  '[{"index":0, "delta":{"content":"R\\u012bga"},"logprobs":{"content":[]},"vendor":1}]';
const CHAT_STREAM = [
  chunk('[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]'),
  chunk(CHAT_DELTA),
  chunk('[{"index":0,"delta":{},"finish_reason":"stop"}]'),
  chunk('[]', `,"usage":${JSON.stringify(CHAT_USAGE)}`),
  'data: [DONE]\n\n',
];

/**
 * The requests to an upstream whose streams never end by themselves: only their content tells that
 * they are over.
 */
const asked: {
  path: string;
  body: Record<string, unknown>;
  headers: IncomingMessage['headers'];
}[] = [];
const upstream = createServer(async (request, response) => {
  const body = JSON.parse((await request.toArray()).join(''));
  asked.push({ path: request.url ?? '', body, headers: request.headers });
  const isNative = request.url === '/v1/messages';
  if (body.stream === true)
    stream(response, isNative ? [NATIVE_START, ...NATIVE_EVENTS] : CHAT_STREAM);
  else response.end(JSON.stringify(isNative ? NATIVE_ANSWER : CHAT_ANSWER));
});

function stream(response: ServerResponse, events: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(event);
}

describe('an answer in the form that the client reads', () => {
  afterAll(async () => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const cleanUp = useCleanUp();
  let gateway: Gateway;
  let key: string;
  let keyId: string;
  let account: string;

  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const upstreams = ['native', 'chat']
      .map(
        (kind) =>
          `{name: ${kind}, kind: ${kind}, url: "${url}", model_names: {on-${kind}: vendor-name}}`,
      )
      .join(', ');
    const models = ['native', 'chat']
      .map(
        (kind) =>
          `{id: on-${kind}, max_output_tokens: 1000, price: {input: 1, output: 5}, routes: [{upstream: ${kind}}]}`,
      )
      .join(', ');
    gateway = await startGateway({
      config: `workers: 1\nupstreams: [${upstreams}]\nmodels: [${models}]\n`,
      cleanUp,
    });
    const operator = admin(gateway);
    account = await operator.createAccount();
    ({ id: keyId, key } = await operator.createKey(account));
  });
  async function ask(
    format: 'native' | 'chat',
    more: object = {},
    headers: Record<string, string> = {},
  ) {
    const path = format === 'native' ? '/v1/messages' : '/v1/chat/completions';
    const askedBefore = asked.length;
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        'x-api-key': key,
        'llm-version': '2023-06-01',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({
        model: `on-${format}`,
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Where?' }],
        ...more,
      }),
    });
    const text = await response.text();
    expect(asked).toHaveLength(askedBefore + 1);
    return text;
  }

  /** Expects 10 input tokens at 1 credit per million and 4 output tokens at 5. */
  async function expectToCost(asking: () => Promise<string>): Promise<string> {
    const operator = admin(gateway);
    await operator.waitUntilSettled(account);
    const before = (await operator.key(keyId)).spent_this_month;
    const text = await asking();
    await operator.waitUntilSettled(account);
    const after = (await operator.key(keyId)).spent_this_month;
    expect(after - before).toBeCloseTo(30 / 1e6, 9);
    return text;
  }

  it('has everything in it that a native upstream said, under the name the client asked for', async () => {
    const text = await expectToCost(() => ask('native'));
    expect(JSON.parse(text)).toEqual({ ...NATIVE_ANSWER, model: 'on-native' });
  });

  it('has everything in it that a chat upstream said, under the name the client asked for', async () => {
    const text = await expectToCost(() => ask('chat'));
    const answer = JSON.parse(text);
    expect(answer).toMatchObject({
      ...CHAT_ANSWER,
      created: expect.any(Number),
      model: 'on-chat',
    });
    expect(answer.created).toBeGreaterThan(1);
  });

  it('is the very bytes of a native stream after its start, and ends with its last event', async () => {
    const text = await expectToCost(() => ask('native', { stream: true }));
    expect(text.slice(text.indexOf('event: content_block_start'))).toBe(NATIVE_EVENTS.join(''));
    expect(text).toContain('"model":"on-native"');
  });

  it('is the very choices of a chat stream, with an end in the form that clients want', async () => {
    const text = await expectToCost(() =>
      ask('chat', { stream: true, stream_options: { include_usage: true } }),
    );
    expect(text).toContain(`"model":"on-chat","choices":${CHAT_DELTA}`);
    expect(text).toMatch(
      /"usage":\{"prompt_tokens":10,"completion_tokens":4,.*\}\n\ndata: \[DONE\]\n\n$/,
    );
  });

  it('is asked for with the fields and betas that only the upstream knows', async () => {
    await ask('chat', { seed: 7, logprobs: true, temperature: 1.5 });
    expect(asked.at(-1)?.body).toMatchObject({ seed: 7, logprobs: true, temperature: 1.5 });
    await ask('native', { vendor: { on: true } }, { 'llm-beta': 'tomorrow-1' });
    expect(asked.at(-1)).toMatchObject({
      body: { vendor: { on: true }, model: 'vendor-name' },
      headers: { 'anthropic-beta': 'tomorrow-1' },
    });
  });
});
