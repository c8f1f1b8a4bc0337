import { createOpenAI } from '@ai-sdk/openai';
import { embedMany } from 'ai';
import fc from 'fast-check';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../../support/clients/admin.ts';
import { scrape } from '../../../support/clients/scrape.ts';
import { type Gateway, startGateway } from '../../../support/servers/start-gateway.ts';
import {
  startHttpUpstream,
  type UpstreamRequest,
} from '../../../support/upstreams/start-http-upstream.ts';
import { useCleanUp } from '../../../support/use-clean-up.ts';

const CREDITS = 10;
const PRICE = 1_000;
const WINDOW = 100;
/** A vendor that answers as the test says; by default it counts four tokens for each input. */
let answer: (inputs: readonly unknown[], request: UpstreamRequest) => unknown = tell;
const cleanUp = useCleanUp();
let gateway: Gateway;
let vendor: Awaited<ReturnType<typeof startHttpUpstream>>;

function tell(inputs: readonly unknown[], usage: unknown = { prompt_tokens: 4 * inputs.length }) {
  const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding: [0.5, -0.25] }));
  return { object: 'list', data, model: 'vendor-embed', usage };
}

beforeAll(async () => {
  vendor = await startHttpUpstream({
    cleanUp,
    answer(request, response) {
      const { input } = JSON.parse(request.body) as { input: unknown };
      const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
      const told = answer(inputs, request);
      if (told === undefined) response.statusCode = 503;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(told ?? { error: { message: 'busy' } }));
    },
  });
  gateway = await startGateway({
    cleanUp,
    config: `
workers: 1
upstreams:
  - {name: simulated, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}
  - {name: vendor, kind: chat, url: '${vendor.url}/v1', api_key: secret, model_names: {told-embed: vendor-embed}}
  - {name: liar, kind: chat, url: '${vendor.url}/v2'}
models:
  - {id: embed, aliases: [text-embedding-3-small], embeddings: true, context_length: 8192, price: {input: ${PRICE}}, routes: [{upstream: simulated}]}
  - {id: told-embed, embeddings: true, context_length: ${WINDOW}, price: {input: ${PRICE}}, routes: [{upstream: vendor}]}
  - {id: lied-embed, embeddings: true, price: {input: ${PRICE}}, routes: [{upstream: liar}]}
  - {id: talker, max_output_tokens: 100, price: {input: 1, output: 1}, routes: [{upstream: simulated}]}
`,
  });
});

interface Answered {
  readonly data: readonly { readonly embedding: unknown }[];
  readonly usage: Readonly<Record<string, number>>;
  readonly error: { readonly message: string };
}

async function post(body: object, key = gateway.key(), path = '/v1/embeddings') {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Answered,
  };
}

const connect = (apiKey = gateway.key()) =>
  new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

async function createAccount() {
  const operator = admin(gateway);
  const account = await operator.createAccount({ credits: CREDITS });
  const { key } = await operator.createKey(account);
  return { operator, account, key };
}

it.each([
  ['/v1/messages/count_tokens', { messages: [{ role: 'user', content: 'Hi' }] }],
  ['/v1/responses/input_tokens', { input: 'Hi' }],
])('no tokens are counted on %s for a model that only embeds', async (path, fields) => {
  const version = { 'llm-version': '2023-06-01', 'content-type': 'application/json' };
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key()}`, ...version },
    body: JSON.stringify({ model: 'embed', ...fields }),
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('only makes embeddings');
});

describe('embeddings for real clients', () => {
  it('come to the openai library, which asks for base64, and to the AI SDK as numbers', async () => {
    const texts = ['one', 'two', 'one'];
    const { data, model, usage } = await connect().embeddings.create({
      model: 'text-embedding-3-small',
      input: texts,
      dimensions: 8,
    });
    expect(model).toBe('embed');
    expect(data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
      [0, 8],
      [1, 8],
      [2, 8],
    ]);
    expect(data[2]?.embedding).toEqual(data[0]?.embedding);
    expect(data[1]?.embedding).not.toEqual(data[0]?.embedding);
    expect(usage.prompt_tokens).toBe(usage.total_tokens);

    const provider = createOpenAI({ apiKey: gateway.key(), baseURL: `${gateway.url}/v1` });
    const embedded = await embedMany({
      model: provider.textEmbeddingModel('embed'),
      values: texts,
      maxRetries: 0,
      providerOptions: { openai: { dimensions: 8 } },
    });
    expect(embedded.usage.tokens).toBe(usage.prompt_tokens);
    const floats = embedded.embeddings.map((embedding) => embedding.map(Math.fround));
    expect(floats).toEqual(data.map(({ embedding }) => Array.from(embedding)));
  });

  it('come from a vendor that knows one encoding only, in the one that was asked for', async () => {
    answer = (inputs) => tell(inputs);
    const { data } = await connect().embeddings.create({ model: 'told-embed', input: ['a', 'b'] });
    expect(data.map(({ embedding }) => Array.from(embedding))).toEqual([
      [0.5, -0.25],
      [0.5, -0.25],
    ]);
    const sent = vendor.requests.at(-1);
    expect(sent?.headers.authorization).toBe('Bearer secret');
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      model: 'vendor-embed',
      input: ['a', 'b'],
      encoding_format: 'base64',
    });
    answer = (inputs) => {
      const told = tell(inputs);
      const embedding = Buffer.from(Float32Array.of(0.5, -0.25).buffer).toString('base64');
      return { ...told, data: told.data.map((entry) => ({ ...entry, embedding })) };
    };
    const floats = await post({ model: 'told-embed', input: 'a', encoding_format: 'float' });
    expect(floats.body.data[0]?.embedding).toEqual([0.5, -0.25]);
  });

  it('are made of lists of tokens, which are counted exactly', async () => {
    const one = await post({ model: 'embed', input: [1, 2, 3] });
    const two = await post({ model: 'embed', input: [[1, 2, 3], [4]] });
    expect([one.body.data.length, one.body.usage['prompt_tokens']]).toEqual([1, 3]);
    expect([two.body.data.length, two.body.usage['prompt_tokens']]).toEqual([2, 4]);
  });
});

describe('the price of embeddings', () => {
  const LIES: readonly (readonly [string, unknown, number, boolean])[] = [
    ['is told', { prompt_tokens: 7, total_tokens: 7 }, 7, false],
    ['is told by nobody', null, 2, true],
    ['is negative', { prompt_tokens: -5 }, 2, true],
    ['is zero', { prompt_tokens: 0, total_tokens: 0 }, 2, true],
    ['is huge', { prompt_tokens: 1e15 }, 5 + 16, false],
  ];

  it.each(LIES)('is right where the usage %s', async (_, usage, tokens, isEstimated) => {
    const { operator, account, key } = await createAccount();
    answer = (inputs) => tell(inputs, usage);
    const { status, headers, body } = await post({ model: 'told-embed', input: 'abcde' }, key);
    expect([status, body.usage]).toEqual([200, { prompt_tokens: tokens, total_tokens: tokens }]);
    await operator.waitUntilSettled(account);
    const { balance } = await operator.call<{ balance: number }>('GET', `/accounts/${account}`);
    expect(CREDITS - balance).toBeCloseTo((tokens * PRICE) / 1e6, 6);
    const receipt = await operator.call<Record<string, unknown>>(
      'GET',
      `/requests/${headers.get('request-id')}`,
    );
    expect(receipt).toMatchObject({
      asked: { format: 'embeddings' },
      usage: { estimated: isEstimated },
    });
  });

  it('is nothing if the vendor has the wrong number of embeddings, or refuses', async () => {
    const { operator, account, key } = await createAccount();
    answer = (inputs) => tell([...inputs, 'one more']);
    expect((await post({ model: 'lied-embed', input: ['a'] }, key)).status).toBe(502);
    answer = (inputs) => ({ ...tell(inputs), data: [{ index: 0, embedding: ['x'] }] });
    expect((await post({ model: 'lied-embed', input: ['a'] }, key)).status).toBe(502);
    await operator.waitUntilSettled(account);
    const { balance } = await operator.call<{ balance: number }>('GET', `/accounts/${account}`);
    expect(balance).toBe(CREDITS);
  });

  it('is never above what was held, whatever is asked and reported', async () => {
    const { operator, account, key } = await createAccount();
    const inputs = fc.oneof(
      fc.string({ minLength: 1, maxLength: 90, unit: 'grapheme' }),
      fc.array(fc.string({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(9), { minLength: 1, maxLength: WINDOW }),
      fc.array(fc.array(fc.nat(9), { minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(inputs, fc.option(fc.nat()), async (input, told) => {
        answer = (asked) => tell(asked, told === null ? undefined : { prompt_tokens: told });
        const { status, headers } = await post({ model: 'told-embed', input }, key);
        expect(status).toBe(200);
        await operator.waitUntilSettled(account);
        const { held, charged, short } = await operator.call<Record<string, number>>(
          'GET',
          `/requests/${headers.get('request-id')}`,
        );
        expect(charged).toBeLessThanOrEqual(held ?? -1);
        expect(short ?? 0).toBe(0);
      }),
      { numRuns: 25 },
    );
  });

  it('is counted beside all other requests', async () => {
    const metrics = await scrape(gateway);
    const route = { route: 'embeddings', model: 'embed' };
    expect(metrics.sum('tollgate_requests_total', route)).toBeGreaterThan(0);
  });
});

describe('a request for embeddings', () => {
  it('is tried again where that can help', async () => {
    let calls = 0;
    answer = (inputs) => {
      calls += 1;
      return calls === 1 ? undefined : tell(inputs);
    };
    expect((await post({ model: 'told-embed', input: 'a' })).status).toBe(200);
    expect(calls).toBe(2);
  });

  const BAD: readonly (readonly [string, object, number, string, RegExp])[] = [
    ['no input', {}, 400, 'missing_required_parameter', /input/],
    ['an empty text', { input: '' }, 400, 'invalid_value', /at least 1 character/],
    ['an empty list', { input: [] }, 400, 'invalid_value', /at least 1/],
    ['a mixed list', { input: ['a', 1] }, 400, 'invalid_value', /input\[1\]/],
    ['too many inputs', { input: Array(2_049).fill('a') }, 400, 'invalid_value', /2048/],
    ['an unknown encoding', { input: 'a', encoding_format: 'hex' }, 400, 'invalid_value', /float/],
    ['a field with a price', { input: 'a', models: ['x'] }, 400, 'invalid_value', /models/],
    [
      'an input above the window',
      { input: Array(8_193).fill(1) },
      400,
      'context_length_exceeded',
      /8192/,
    ],
    [
      'too much text',
      { input: Array(9).fill('a'.repeat(1_000_000)) },
      413,
      'request_too_large',
      /8388608/,
    ],
    ['an unknown model', { input: 'a', model: 'nothing' }, 404, 'model_not_found', /nothing/],
    ['a model that talks', { input: 'a', model: 'talker' }, 400, 'invalid_value', /no embeddings/],
  ];

  it.each(BAD)('with %s is refused with the reason', async (_, fields, status, code, message) => {
    const refused = await post({ model: 'embed', ...fields });
    expect(refused.status).toBe(status);
    expect(refused.body.error).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('needs a key, and credits', async () => {
    expect((await post({ model: 'embed', input: 'a' }, 'sk-gw2-nothing')).status).toBe(401);
    const operator = admin(gateway);
    const { key } = await operator.createKey(await operator.createAccount({ credits: 0 }));
    expect((await post({ model: 'embed', input: 'a' }, key)).status).toBe(402);
  });
});

describe('a model that makes embeddings', () => {
  it('is marked in the list, and answers nothing else', async () => {
    const { data } = await connect().models.list();
    const listed = data.find(({ id }) => id === 'embed');
    expect(listed).toMatchObject({ embeddings: true, context_length: 8_192 });
    expect(listed).not.toHaveProperty('max_output_tokens');
    const messages = [{ role: 'user', content: 'Hello' }];
    const chat = await post({ model: 'embed', messages }, gateway.key(), '/v1/chat/completions');
    expect([chat.status, chat.body.error.message]).toEqual([
      400,
      expect.stringMatching(/POST \/v1\/embeddings/),
    ]);
  });
});
