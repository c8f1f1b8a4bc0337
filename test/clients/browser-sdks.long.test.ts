import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { build } from 'vite';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createTempDir } from '../support/create-temp-dir.ts';
import { useBrowser } from '../support/servers/start-browser.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';

/** What an application's own page would do with the libraries of both vendors. */
const SOURCE = `
import Anthropic from 'anthropic-sdk-1';
import OpenAI from 'openai';

const MODEL = 'llm-haiku-4.5';
const ask = { model: MODEL, max_tokens: 50, messages: [{ role: 'user', content: 'Hello!' }] };
const tell = async (work) => {
  try { return await work(); }
  catch (error) {
    return { failed: error.constructor.name, status: error.status, requestId: error.requestID, message: error.message };
  }
};
const headersOf = (response) => Object.fromEntries(response.headers);

window.chat = (baseURL, apiKey) => tell(async () => {
  const client = new OpenAI({ apiKey, baseURL: baseURL + '/v1', maxRetries: 0, dangerouslyAllowBrowser: true });
  const { data, response } = await client.chat.completions.create(ask).withResponse();
  let streamed = '';
  const stream = await client.chat.completions.create({ ...ask, stream: true });
  for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? '';
  const models = await client.models.list();
  return { text: data.choices[0].message.content, streamed, models: models.data.map(({ id }) => id), headers: headersOf(response) };
});

window.native = (baseURL, apiKey) => tell(async () => {
  const client = new Anthropic({ apiKey, baseURL, maxRetries: 0, dangerouslyAllowBrowser: true });
  const { data, response } = await client.messages.create(ask).withResponse();
  const streamed = await client.messages.stream(ask).finalText();
  const { input_tokens } = await client.messages.countTokens({ model: MODEL, messages: ask.messages });
  const models = await client.models.list();
  return { text: data.content[0].text, streamed, counted: input_tokens, models: models.data.map(({ id }) => id), headers: headersOf(response) };
});

window.keyInfo = (baseURL, apiKey) => tell(async () => {
  const response = await fetch(baseURL + '/v1/key', { headers: { authorization: 'Bearer ' + apiKey } });
  return { status: response.status, headers: headersOf(response) };
});
`;

const cleanUp = useCleanUp();
const openTab = useBrowser();
let bundle: string;

beforeAll(async () => {
  const root = createTempDir(cleanUp);
  const entry = join(root, 'page.js');
  writeFileSync(entry, SOURCE);
  const alias = Object.fromEntries(
    ['openai', 'anthropic-sdk-1'].map((name) => [name, resolve('node_modules', name)]),
  );
  const output = await build({
    ...{ root, configFile: false, logLevel: 'warn', resolve: { alias } },
    build: { write: false, minify: false, rolldownOptions: { input: entry } },
  });
  const [result] = [output].flat();
  if (result === undefined || !('output' in result)) throw new Error('vite built nothing');
  bundle = result.output[0].code;
});

/** An application's site with its own origin. */
async function startSite(): Promise<string> {
  const server = createServer(({ url }, response) => {
    const isScript = url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript ? bundle : '<!doctype html><script type="module" src="/page.js"></script>',
    );
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Told {
  readonly failed?: string;
  readonly status?: number;
  readonly message?: string;
  readonly requestId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function openPage(site: string, gateway: Gateway) {
  const tab = await openTab();
  await tab.page.goto(site);
  await tab.page.waitForFunction('window.keyInfo !== undefined');
  return {
    ...tab,
    call: (name: 'chat' | 'native' | 'keyInfo', key = gateway.key()) =>
      tab.page.evaluate(
        `window.${name}(${JSON.stringify(gateway.url)}, ${JSON.stringify(key)})`,
      ) as Promise<Told>,
  };
}

const startWith = (origins: readonly string[]) =>
  startGateway({ config: `${FAST_CONFIG}cors: {origins: ${JSON.stringify(origins)}}\n` });

describe.each(['its origin', 'every origin'])('a page, where %s is allowed', (allowed) => {
  it('reads answers, streams, headers and refusals through both libraries', async () => {
    const site = await startSite();
    const gateway = await startWith([allowed === 'its origin' ? site : '*']);
    const { call, errors } = await openPage(site, gateway);

    expect(await call('chat')).toMatchObject({
      text: expect.stringMatching(/\w/),
      streamed: expect.stringMatching(/\w/),
      models: expect.arrayContaining(['llm-haiku-4.5']),
      headers: {
        'request-id': expect.stringMatching(/^req_/),
        'x-request-id': expect.stringMatching(/^req_/),
        'x-ratelimit-limit-requests': expect.stringMatching(/^\d+$/),
        'x-tollgate-credits-charged': expect.stringMatching(/^[\d.]+$/),
      },
    });
    expect(await call('native')).toMatchObject({
      text: expect.stringMatching(/\w/),
      streamed: expect.stringMatching(/\w/),
      counted: expect.any(Number),
      models: expect.arrayContaining(['llm-haiku-4.5']),
      headers: { 'anthropic-ratelimit-requests-remaining': expect.stringMatching(/^\d+$/) },
    });
    expect(await call('keyInfo')).toMatchObject({ status: 200 });
    expect(errors).toEqual([]);

    const wrong = `${gateway.key().slice(0, -1)}?`;
    for (const name of ['chat', 'native'] as const) {
      expect(await call(name, wrong)).toMatchObject({
        ...{ failed: 'AuthenticationError', status: 401 },
        requestId: expect.stringMatching(/^req_/),
      });
    }
  });
});

describe('a page of another origin', () => {
  it.each([
    ['than the allowed one', ['https://app.example.com']],
    ['where none is allowed', []],
  ])('reads nothing: %s', async (_name, origins) => {
    const gateway = await startWith(origins);
    const { call } = await openPage(await startSite(), gateway);
    for (const name of ['chat', 'native', 'keyInfo'] as const) {
      const told = await call(name);
      expect(told.failed, name).toBeDefined();
      expect(told.status, name).toBeUndefined();
    }
  });
});
