import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askGateway } from '../../support/clients/ask-gateway.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  type RecordedBody,
  type RecordingUpstream,
  startRecordingUpstream,
} from '../../support/upstreams/start-recording-upstream.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

const EXAMPLES = readFileSync('deploy/examples/vendors.yaml', 'utf8');
const KEYS = {
  ANTHROPIC_KEY: 'anthropic-key',
  GEMINI_KEY: 'gemini-key',
  AZURE_KEY: 'azure-key',
  VLLM_KEY: 'vllm-key',
  OPENROUTER_KEY: 'openrouter-key',
  DEEPSEEK_KEY: 'deepseek-key',
};

const cleanUp = useCleanUp();
let upstream: RecordingUpstream;
let gateway: Gateway;
beforeAll(async () => {
  upstream = await startRecordingUpstream(cleanUp);
  // One server stands for all vendors: only the hosts of the examples differ.
  const config = EXAMPLES.replace(/url: https?:\/\/[^/\s]+/g, `url: ${upstream.url}`);
  gateway = await startGateway({ config: `workers: 1\n${config}`, env: KEYS, cleanUp });
});
const CHAT = '/chat/completions';

describe('the examples of vendors', () => {
  it.each([
    {
      model: 'google/gemini-2.5-pro',
      sent: { path: `/v1beta/openai${CHAT}`, key: ['authorization', 'Bearer gemini-key'] },
      body: { model: 'gemini-2.5-pro', max_completion_tokens: 9 },
    },
    {
      model: 'gpt-5',
      sent: { path: `/openai/v1${CHAT}`, key: ['api-key', 'azure-key'] },
      body: { model: 'my-gpt-5', max_completion_tokens: 9 },
    },
    {
      model: 'gpt-4.1',
      sent: {
        path: `/openai/deployments/my-gpt-4-1${CHAT}?api-version=2024-10-21`,
        key: ['api-key', 'azure-key'],
      },
      body: { model: 'gpt-4.1', max_completion_tokens: 9 },
    },
    {
      model: 'Qwen/Qwen3-32B',
      sent: { path: `/v1${CHAT}`, key: ['authorization', 'Bearer vllm-key'] },
      body: { model: 'Qwen/Qwen3-32B', max_completion_tokens: 9 },
    },
    {
      model: 'gpt-oss:20b',
      sent: { path: `/v1${CHAT}`, key: ['authorization', undefined] },
      body: { model: 'gpt-oss:20b', max_tokens: 9 },
    },
    {
      model: 'claude/sonnet',
      sent: { path: `/api/v1${CHAT}`, key: ['authorization', 'Bearer openrouter-key'] },
      body: { model: 'anthropic/claude-sonnet-4.5', max_completion_tokens: 9 },
    },
    {
      model: 'deepseek/deepseek-chat',
      sent: { path: '/anthropic/v1/messages', key: ['x-api-key', 'deepseek-key'] },
      body: { model: 'deepseek-chat', max_tokens: 9 },
    },
    {
      model: 'claude-opus-4.7',
      sent: { path: '/v1/messages', key: ['x-api-key', 'anthropic-key'] },
      body: { model: 'claude-opus-4-7', max_tokens: 9 },
    },
  ])('send $model where it belongs, with its key and by its name there', async (example) => {
    const before = upstream.requests.length;
    for (const format of ['native', 'chat'] as const) {
      const { key, url } = { key: gateway.key(), url: gateway.url };
      const { model } = example;
      const fields = { max_tokens: undefined, max_completion_tokens: 9 };
      const answer = await (format === 'native'
        ? askGateway({ url, key, model, format, isStream: false })
        : postChat(model, fields));
      expect(answer.status).toBe(200);
    }
    const [first, second] = upstream.requests
      .slice(before)
      .filter(({ method }) => method === 'POST');
    const { path, key } = example.sent;
    for (const request of [first, second]) {
      expect(request?.path).toBe(path);
      expect(request?.headers[key[0] ?? '']).toBe(key[1]);
    }
    expect(second?.body).toMatchObject(example.body);
    const { max_tokens: limit, max_completion_tokens: newLimit } = second?.body ?? {};
    expect([limit, newLimit]).toContain(undefined);
  });

  const sampled = { temperature: 0.5, top_p: 0.5 };

  it.each([
    ['claude-opus-4.7', {}],
    ['claude-sonnet-4.6', { temperature: 0.5 }],
    ['claude-haiku-4.5', { temperature: 0.5 }],
    ['deepseek/deepseek-chat', { temperature: 0.5 }],
  ])('tell %s no more about sampling than it takes', async (model, told) => {
    const samplingOf = ({ temperature, top_p, top_k }: RecordedBody) => ({
      ...{ temperature, top_p, top_k },
    });
    expect((await postChat(model, sampled)).status).toBe(200);
    expect(samplingOf(upstream.lastBody())).toEqual(told);
    // Only what is translated is mended. A native client knows its model.
    const own = { ...sampled, top_k: 5 };
    expect((await postNative(model, own)).status).toBe(200);
    expect(samplingOf(upstream.lastBody())).toEqual(own);
  });

  it('leave out for models that think what native clients say about sampling', async () => {
    await postNative('gpt-5', sampled);
    expect(JSON.stringify(upstream.lastBody())).not.toMatch(/temperature|top_p/);
    await postNative('Qwen/Qwen3-32B', sampled);
    expect(upstream.lastBody()).toMatchObject(sampled);
  });

  it.each([
    ['claude-opus-4.7', { type: 'adaptive' }, { effort: 'high' }],
    ['claude-haiku-4.5', { type: 'enabled', budget_tokens: 4_000 }, undefined],
  ])('ask %s to think in its own way', async (model, thinking, config) => {
    const asked = { reasoning: { effort: 'high' }, max_output_tokens: 5_000, ...sampled };
    const answer = await post('/v1/responses', { model, input: 'Hi', store: false, ...asked });
    expect(answer.status).toBe(200);
    const sent = upstream.lastBody();
    expect(sent['thinking']).toMatchObject(thinking);
    expect(sent['output_config']).toEqual(config);
    expect(sent).not.toHaveProperty('temperature');
  });

  it('sign calls for Gemini 3, which refuses those that have lost its signature', async () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'Done' });
    const talk = [
      ...messages,
      { role: 'assistant', content: [call('toolu_1'), call('toolu_2')] },
      { role: 'user', content: [result('toolu_1'), result('toolu_2')] },
    ];
    const signaturesFor = async (model: string) => {
      expect((await postNative(model, { messages: talk })).status).toBe(200);
      const sent = upstream.lastBody()['messages'] as { tool_calls?: RecordedBody[] }[];
      return sent.flatMap(({ tool_calls: calls = [] }) =>
        calls.map((sent) => sent['extra_content']),
      );
    };
    const skipped = { google: { thought_signature: 'skip_thought_signature_validator' } };
    expect(await signaturesFor('google/gemini-3-pro-preview')).toEqual([skipped, undefined]);
    expect(await signaturesFor('google/gemini-2.5-pro')).toEqual([undefined, undefined]);
  });

  it('ask whether vLLM is there behind its base path', async () => {
    await waitUntil(
      () => upstream.requests.some(({ method }) => method === 'GET'),
      'it has been probed',
    );
    const probe = upstream.requests.find(({ method }) => method === 'GET');
    expect(probe?.path).toBe('/v1/models');
    expect(probe?.headers.authorization).toBe('Bearer vllm-key');
  });
});

describe('a model with a slash in its name', () => {
  it.each(['Qwen/Qwen3-32B', 'Qwen%2FQwen3-32B'])('is found at /v1/models/%s', async (path) => {
    const headers = { 'x-api-key': gateway.key() };
    const response = await fetch(`${gateway.url}/v1/models/${path}`, { headers });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: 'Qwen/Qwen3-32B' });
  });

  it('is found by the OpenAI client, listed, and may be the only one of a key', async () => {
    const operator = admin(gateway);
    const account = await operator.createAccount();
    const { key } = await operator.createKey(account, { models: ['claude/sonnet'] });
    const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    expect((await client.models.retrieve('claude/sonnet')).id).toBe('claude/sonnet');
    const listed: string[] = [];
    for await (const { id } of client.models.list()) listed.push(id);
    expect(listed).toEqual(['anthropic/claude-sonnet-4.5', 'claude/sonnet']);
    const ask = (model: string) =>
      client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }] });
    expect((await ask('claude/sonnet')).model).toBe('anthropic/claude-sonnet-4.5');
    await expect(ask('Qwen/Qwen3-32B')).rejects.toThrow(/403/);
  });
});

async function post(path: string, body: object): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${gateway.key()}`,
      'llm-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  });
}

const messages = [{ role: 'user', content: 'Hi' }];

const postChat = (model: string, fields: object) =>
  post('/v1/chat/completions', { model, messages, ...fields });

const postNative = (model: string, fields: object) =>
  post('/v1/messages', { model, messages, max_tokens: 9, ...fields });

describe('the limit of the output', () => {
  it.each([
    [{ max_tokens: 7 }, { max_tokens: 7 }],
    [{ max_completion_tokens: 7 }, { max_completion_tokens: 7 }],
    [{ max_tokens: 7, max_completion_tokens: null }, { max_tokens: 7 }],
    // Both: the smaller limit holds, whichever of the two the upstream knows.
    [{ max_tokens: 7, max_completion_tokens: 5 }, { max_completion_tokens: 5 }],
    [{ max_tokens: 5, max_completion_tokens: 7 }, { max_completion_tokens: 5 }],
    [{}, { max_completion_tokens: 8_192 }],
  ])('asked for as %j goes to a chat upstream as %j', async (asked, sent) => {
    expect((await postChat('Qwen/Qwen3-32B', asked)).status).toBe(200);
    const { max_tokens, max_completion_tokens } = upstream.lastBody();
    expect({ max_tokens, max_completion_tokens }).toEqual(sent);
  });

  it('of a client that names none leaves room for its prompt in the window', async () => {
    const content = 'ab '.repeat(34_000);
    const answer = await postChat('Qwen/Qwen3-32B', { messages: [{ role: 'user', content }] });
    expect(answer.status).toBe(200);
    const { max_completion_tokens: given } = upstream.lastBody();
    expect(given).toBeLessThanOrEqual(40_960 - 34_000);
    expect(given).toBeGreaterThan(6_900);
    expect(answer.headers.get('x-tollgate-max-tokens')).toBe(String(given));
  });

  it('goes under the one name that the settings say, whatever the client calls it', async () => {
    for (const asked of [{ max_completion_tokens: 7 }, { max_tokens: 7 }]) {
      // One body is spliced, the other is encoded anew.
      for (const more of [{}, { messages: [{ role: 'user', content: [textPart] }] }]) {
        expect((await postChat('gpt-oss:20b', { ...asked, ...more })).status).toBe(200);
        const { max_tokens, max_completion_tokens } = upstream.lastBody();
        expect({ max_tokens, max_completion_tokens }).toEqual({ max_tokens: 7 });
      }
    }
  });

  it('goes under another name for each model of an upstream, where the settings say so', async () => {
    const model = (id: string) =>
      `  - {id: ${id}, max_output_tokens: 500, price: {input: 1, output: 1}}`;
    const asksOf = async (fields: string) => {
      const mixed = await startGateway({
        config: [
          'workers: 1\nmodels:',
          ...['vendor/older', 'newer', 'other'].map(model),
          `upstreams: [{name: mixed, kind: chat, url: "${upstream.url}", output_limit_field: ${fields}}]`,
        ].join('\n'),
      });
      const asked: unknown[] = [];
      for (const id of ['vendor/older', 'newer', 'other']) {
        const question = { url: mixed.url, key: mixed.key(), model: id, isStream: false };
        for (const format of ['native', 'chat'] as const) {
          expect((await askGateway({ ...question, format })).status).toBe(200);
          const body = upstream.lastBody();
          asked.push(['max_tokens', 'max_completion_tokens'].filter((name) => name in body).join());
        }
      }
      return asked;
    };
    const [older, newer] = ['max_tokens', 'max_completion_tokens'];
    const named = `vendor/older: ${older}, newer: ${newer}`;
    // `other` gets the field that its client sends. A native client sends neither.
    expect(await asksOf(`{${named}}`)).toEqual([older, older, newer, newer, newer, older]);
    expect(await asksOf(`{${named}, "*": ${older}}`)).toEqual([
      ...[older, older, newer, newer, older, older],
    ]);
  });

  it('of a native client goes to a chat upstream as max_completion_tokens', async () => {
    const question = { url: gateway.url, key: gateway.key(), model: 'Qwen/Qwen3-32B' };
    await askGateway({ ...question, format: 'native', isStream: false });
    const body = upstream.lastBody();
    expect(body).toHaveProperty('max_completion_tokens');
    expect(body).not.toHaveProperty('max_tokens');
  });
});

const textPart = { type: 'text', text: 'Hi' };
