import { beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  type HttpUpstream,
  startHttpUpstream,
  UPSTREAM_ANSWER,
} from '../../support/upstreams/start-http-upstream.ts';
import { USAGE, wholeBody } from '../../support/upstreams/upstream-answers.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';

const CHAT_ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'vendor-name',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 },
};

const ROUTES = {
  native: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
};
type Kind = keyof typeof ROUTES;

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const BODY = { max_tokens: 50, messages: MESSAGES };
const BODIES = {
  ...{ native: BODY, chat: BODY },
  // An answer that is not kept is relayed.
  responses: { max_output_tokens: 50, input: MESSAGES, store: false },
};
function cacheLastText(kind: Kind, cache_control: object): object {
  const type = kind === 'responses' ? 'input_text' : 'text';
  const messages = [{ role: 'user', content: [{ type, text: 'Hi', cache_control }] }];
  return { [kind === 'responses' ? 'input' : 'messages']: messages };
}

const ANSWERS: Readonly<Record<Kind, string>> = {
  native: JSON.stringify(UPSTREAM_ANSWER),
  chat: JSON.stringify(CHAT_ANSWER),
  responses: wholeBody('responses', 'Hello there', USAGE),
};

const KINDS = ['native', 'chat', 'responses'] as const;
const cleanUp = useCleanUp();
let vendors: Readonly<Record<Kind, HttpUpstream>>;
let gateway: Gateway;

function startVendor(kind: Kind): Promise<HttpUpstream> {
  return startHttpUpstream({
    cleanUp,
    answer(_request, response) {
      response.setHeader('content-type', 'application/json');
      response.end(ANSWERS[kind]);
    },
  });
}

/** Each upstream sells one model, which has its name; the first one sells a dear model too. */
beforeAll(async () => {
  vendors = {
    native: await startVendor('native'),
    chat: await startVendor('chat'),
    responses: await startVendor('responses'),
  };
  const names = KINDS.flatMap((kind) =>
    (['pass', 'drop', 'refuse'] as const).map((unknownFields) => ({
      kind,
      unknownFields,
      name: `${kind}-${unknownFields}`,
    })),
  );
  const config = [
    'workers: 1',
    'models:',
    '  - {id: dear, beta_context_length: 1000000, max_output_tokens: 32000, price: {input: 5, output: 25}, routes: [{upstream: native-pass}]}',
    ...names.map(
      ({ name }) =>
        `  - {id: ${name}, max_output_tokens: 8192, price: {input: 1, output: 5}, routes: [{upstream: ${name}}]}`,
    ),
    'upstreams:',
    ...names.map(
      ({ kind, unknownFields, name }) =>
        `  - {name: ${name}, kind: ${kind}, url: "${vendors[kind].url}", model_names: {${name}: vendor-name}, unknown_fields: ${unknownFields}}`,
    ),
    '',
  ].join('\n');
  gateway = await startGateway({ config, cleanUp });
});

/** A client of an upstream that keeps its requests. */
async function start(kind: Kind, unknownFields = 'pass') {
  const model = `${kind}-${unknownFields}`;
  const { requests } = vendors[kind];
  const earlierRequests = requests.length;
  const operator = admin(gateway);
  const account = await operator.createAccount({ credits: 5 });
  const { id, key } = await operator.createKey(account);
  return {
    model,
    sent: () => requests.slice(earlierRequests).map(({ body }) => body),
    betas: () => requests.slice(earlierRequests).map(({ headers }) => headers['anthropic-beta']),
    /** Asks for the upstream's model, unless the body is a text or names another one. */
    async ask(body: string | object, headers: Record<string, string> = {}, route = kind) {
      const response = await fetch(`${gateway.url}${ROUTES[route]}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify({ model, ...body }),
      });
      const answer = (await response.json()) as { error?: { message: string } };
      return { status: response.status, message: answer.error?.message ?? '' };
    },
    async spent() {
      await operator.waitUntilSettled(account);
      return (await operator.key(id)).spent_this_month;
    },
  };
}

describe.each(KINDS)('a client of the %s format', (kind) => {
  const body = BODIES[kind];

  it('is refused what nobody has a price for, and pays nothing', async () => {
    const { ask, sent, spent } = await start(kind);
    const refused: readonly [object, string][] = [
      [{ speed: 'fast' }, 'speed'],
      [{ inference_geo: 'us' }, 'inference_geo'],
      [{ service_tier: 'priority' }, 'service_tier'],
      [{ fallbacks: [{ model: 'dear' }] }, 'fallbacks'],
      [{ api_base: 'https://elsewhere.example' }, 'api_base'],
      [{ mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] }, 'mcp_servers'],
      [{ deferred: true }, 'deferred'],
      [{ providerOptions: { gateway: { models: ['dear'] } } }, 'providerOptions'],
      [{ priority: -1_000_000 }, 'priority'],
      [{ n: 2 }, 'n'],
      [{ web_search_options: {} }, 'web_search_options'],
      [{ Model: 'dear' }, 'did you mean model'],
      [{ 'max_to\u212Aens': 30_000 }, 'did you mean max_tokens'],
    ];
    for (const [fields, said] of refused) {
      const { status, message } = await ask({ ...body, ...fields });
      expect([status, message], said).toEqual([400, expect.stringContaining(said)]);
    }
    expect(sent()).toEqual([]);
    expect(await spent()).toBe(0);
  });

  it('is told how long what it says is cached, or may not have it cached for longer', async () => {
    const { ask, sent } = await start(kind);
    for (const ttl of ['5m', '1h']) {
      const cached = cacheLastText(kind, { type: 'ephemeral', ttl });
      const { status, message } = await ask({ ...body, ...cached });
      const isTaken = ttl === '5m' || kind === 'native';
      expect([status, message], ttl).toEqual(
        isTaken ? [200, ''] : [400, expect.stringContaining('cache_control.ttl')],
      );
    }
    expect(sent()).toHaveLength(kind === 'native' ? 2 : 1);
    expect(JSON.stringify(sent()[0])).toContain('cache_control');
  });

  it('is served where the same fields ask for nothing dear', async () => {
    const { ask, sent } = await start(kind);
    const fields = { speed: 'standard', inference_geo: 'global', service_tier: 'auto', n: 1 };
    expect(await ask({ ...body, ...fields, fallbacks: null, of_tomorrow: [1] })).toMatchObject({
      status: 200,
    });
    expect(JSON.parse(sent()[0] ?? '')).toMatchObject({ ...fields, of_tomorrow: [1] });
  });

  it('gets no more output than it pays for under another name of the maximum', async () => {
    const { ask, sent } = await start(kind);
    expect(await ask({ ...body, n_predict: 32_000 })).toMatchObject({ status: 200 });
    expect(JSON.parse(sent()[0] ?? '')).not.toHaveProperty('n_predict');
  });

  it('gets the model that is paid for, however often another is named', async () => {
    const { model, ask, sent, spent } = await start(kind);
    const rest = JSON.stringify(body).slice(1, -1);
    const [limit = '', said = ''] = Object.keys(body);
    const bodies = [
      `{"model":"dear",${rest},"model":"${model}"}`,
      `{"\\u006dodel":"dear",${rest},"model":"${model}"}`,
      `{"model":"dear",${rest},"mode\\u006c":"${model}"}`,
      `{"model":"${model}",${rest},"${limit}":60,"${limit}":50}`,
      `{"model":"${model}",${rest},"${said}":[{"role":"user","content":"long","content":"Hi"}]}`,
    ];
    for (const written of bodies) expect(await ask(written)).toMatchObject({ status: 200 });
    for (const written of sent()) {
      expect(written.match(/"(?:\\u006d|m)ode(?:l|\\u006c)"/g)).toEqual(['"model"']);
      expect(written.match(/"max_(?:output_)?tokens"|"content"/g)).toHaveLength(2);
      expect(JSON.parse(written)).toMatchObject({ ...body, model: 'vendor-name' });
    }
    expect(sent()).toHaveLength(bodies.length);
    expect(await spent()).toBeLessThan(0.001 * bodies.length);
  });

  it('has fields that nobody knows passed, dropped or refused as the upstream is set', async () => {
    const asked = { ...body, of_tomorrow: [1] };
    const dropping = await start(kind, 'drop');
    expect(await dropping.ask(asked)).toMatchObject({ status: 200 });
    expect(JSON.parse(dropping.sent()[0] ?? '')).not.toHaveProperty('of_tomorrow');
    const refusing = await start(kind, 'refuse');
    expect(await refusing.ask(asked)).toMatchObject({
      status: 400,
      message: expect.stringContaining('of_tomorrow'),
    });
    expect(await refusing.ask(body)).toMatchObject({ status: 200 });
    expect(refusing.sent()).toHaveLength(1);
    expect(await refusing.spent()).toBeGreaterThan(0);
  });
});

it('a chat client is understood by a chat upstream as it spoke', async () => {
  const { ask, sent } = await start('chat');
  const body = {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }], name: 'ann' },
      { role: 'assistant', content: 'Ho', reasoning_content: 'Hm.' },
      { role: 'system', content: 'Mind the tests.' },
      { role: 'user', content: ' ' },
    ],
    stop: ' ',
    temperature: 1.5,
    top_k: 4,
    min_p: 0.1,
    tools: [{ type: 'function', function: { name: 'a', strict: true, parameters: {} } }],
    tool_choice: 'auto',
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {}, strict: true } },
    metadata: { a: 'b' },
  };
  expect(await ask({ ...body, max_tokens: 50, store: false })).toMatchObject({ status: 200 });
  expect(JSON.parse(sent()[0] ?? '')).toEqual({
    ...body,
    model: 'vendor-name',
    max_tokens: 50,
    stream: false,
  });
});

it('a tool that the vendor runs and bills is refused, and one that the client runs is not', async () => {
  const { ask, sent } = await start('native');
  const searching = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 };
  expect(await ask({ ...BODY, tools: [searching] })).toMatchObject({
    status: 400,
    message: expect.stringContaining('web_search'),
  });
  expect(sent()).toEqual([]);
  const tools = [{ type: 'bash_20250124', name: 'bash' }];
  expect(await ask({ ...BODY, tools })).toMatchObject({ status: 200 });
  expect(JSON.parse(sent()[0] ?? '')).toMatchObject({ tools });
});

it('a beta window is asked for of those models alone that have one', async () => {
  const { model, ask, betas } = await start('native');
  const headers = { 'anthropic-beta': 'context-1m-2025-08-07,of-tomorrow' };
  for (const asked of [model, 'dear']) await ask({ ...BODY, model: asked }, headers);
  expect(betas()).toEqual(['of-tomorrow', 'of-tomorrow,context-1m-2025-08-07']);
});

it('a native client of a chat upstream loses what is not said there, and is told of what it cannot do without', async () => {
  const { ask, sent } = await start('chat');
  const dropped = {
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    top_k: 4,
    thinking: { type: 'enabled', budget_tokens: 1_024 },
    speed: 'standard',
    of_tomorrow: [1],
  };
  const served = await ask({ ...BODY, ...dropped, max_tokens: 2_000 }, {}, 'native');
  expect(served).toMatchObject({ status: 200 });
  for (const name of Object.keys(dropped))
    expect(JSON.parse(sent()[0] ?? '')).not.toHaveProperty(name);
  const tools = [{ type: 'bash_20250124', name: 'bash' }];
  const refused: readonly object[] = [
    { mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] },
    { container: 'container_1' },
    { thread: { type: 'create' } },
    { tools },
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'file_1' }] }] },
  ];
  for (const fields of refused) {
    expect(await ask({ ...BODY, ...fields }, {}, 'native'), JSON.stringify(fields)).toMatchObject({
      status: 400,
    });
  }
  expect(sent()).toHaveLength(1);
});
