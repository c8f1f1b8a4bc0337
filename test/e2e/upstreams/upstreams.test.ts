import Anthropic from 'anthropic-sdk-1';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, HAIKU, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The tested gateway stands in front of another gateway with its simulated upstream. */
const backend = useGateway({ config: FAST_CONFIG });

const cleanUp = useCleanUp();
let gateway: Gateway;
beforeAll(async () => {
  const { url } = backend();
  const key = backend().key();
  gateway = await startGateway({
    cleanUp,
    config: encodeConfig([
      { name: 'native', kind: 'native', url, key },
      { name: 'chat', kind: 'chat', url, key },
      { name: 'native-refused', kind: 'native', url, key: 'sk-gw2-wrong' },
      { name: 'chat-refused', kind: 'chat', url, key: 'sk-gw2-wrong' },
      { name: 'away', kind: 'native', url: 'http://127.0.0.1:1', key: 'k' },
    ]),
  });
});

const WEATHER_SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};

interface NamedUpstream {
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  readonly key: string;
}

/** Each upstream has a model of its name. */
function encodeConfig(upstreams: readonly NamedUpstream[]): string {
  const model = 'max_output_tokens: 8192, price: {input: 1, output: 5}';
  const timeouts = '{connect: 1s, first_byte: 5s, idle: 5s, total: 60s}';
  return [
    'workers: 1',
    'models:',
    ...upstreams.map(({ name }) => `  - {id: ${name}, ${model}, routes: [{upstream: ${name}}]}`),
    'upstreams:',
    ...upstreams.map(
      ({ name, kind, url, key }) =>
        `  - {name: ${name}, kind: ${kind}, url: "${url}", api_key: ${key}, model_names: {${name}: ${HAIKU}}, timeouts: ${timeouts}}`,
    ),
    '',
  ].join('\n');
}

async function createCaller() {
  const operator = admin(gateway);
  const account = await operator.createAccount({ credits: 5 });
  const { id, key } = await operator.createKey(account);
  return {
    key,
    native: new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 }),
    chat: new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 }),
    async spent() {
      await operator.waitUntilSettled(account);
      return (await operator.key(id)).spent_this_month;
    },
  };
}

describe.each(['native', 'chat'] as const)(
  'a gateway in front of an upstream of kind %s',
  (kind) => {
    const ask = (content: string) => ({
      model: kind,
      max_tokens: 200,
      messages: [{ role: 'user' as const, content }],
    });

    it('answers native clients, whole and streamed, with the same words and usage', async () => {
      const { native, spent } = await createCaller();
      const whole = await native.messages.create(ask('Hello! [[tokens 20]]'));
      const streamed = await native.messages.stream(ask('Hello! [[tokens 20]]')).finalMessage();
      expect(whole).toMatchObject({
        model: kind,
        stop_reason: 'end_turn',
        usage: { output_tokens: 20 },
      });
      expect(streamed.content).toEqual(whole.content);
      expect(streamed.usage.output_tokens).toBe(20);
      expect(streamed.usage.input_tokens).toBe(whole.usage.input_tokens);
      const cost = (whole.usage.input_tokens + 20 * 5) / 1e6;
      expect(await spent()).toBeCloseTo(2 * cost, 9);
    });

    it('answers chat clients, whole and streamed, with usage', async () => {
      const { chat } = await createCaller();
      const whole = await chat.chat.completions.create(ask('Hello! [[tokens 20]]'));
      const stream = await chat.chat.completions.create({
        ...ask('Hello! [[tokens 20]]'),
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = '';
      let usage: OpenAI.CompletionUsage | null | undefined;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? '';
        usage = chunk.usage ?? usage;
      }
      expect(whole.usage?.completion_tokens).toBe(20);
      expect(text).toBe(whole.choices[0]?.message.content);
      expect(usage).toEqual(whole.usage);
    });

    it('takes tool calls through it in both formats', async () => {
      const { native, chat } = await createCaller();
      const message = await native.messages.create({
        ...ask('[[tool get_weather {"city":"Riga"}]]'),
        tools: [{ name: 'get_weather', input_schema: WEATHER_SCHEMA }],
      });
      expect(message.content).toContainEqual(
        expect.objectContaining({ type: 'tool_use', name: 'get_weather', input: { city: 'Riga' } }),
      );
      const completion = await chat.chat.completions.create({
        ...ask('[[tool get_weather {"city":"Riga"}]]'),
        tools: [
          { type: 'function', function: { name: 'get_weather', parameters: WEATHER_SCHEMA } },
        ],
      });
      const [call] = completion.choices[0]?.message.tool_calls ?? [];
      expect(call).toMatchObject({
        type: 'function',
        function: { name: 'get_weather', arguments: '{"city":"Riga"}' },
      });
    });

    it('stops the upstream when its client leaves, and bills what came', async () => {
      const { key, spent } = await createCaller();
      const more = { model: kind, max_tokens: 8_000 };
      const endless = messageOf('[[tokens 8000]] [[slow 20]]', more);
      const stream = await openStream(gateway.url, key, endless);
      await waitUntil(() => stream.text().includes('content_block_delta'), 'it says something');
      stream.leave();
      await waitUntil(async () => {
        const { data } = await admin(backend()).call<{ data: { held: number }[] }>(
          'GET',
          '/accounts',
        );
        return data.every(({ held }) => held === 0);
      }, 'the upstream has stopped');
      const charged = await spent();
      expect(charged).toBeGreaterThan(0);
      expect(charged).toBeLessThan(0.01);
    });

    it('passes on what the upstream says of a request, and keeps its own trouble with it to itself', async () => {
      const { key } = await createCaller();
      const refused = await askModel(gateway.url, key, messageOf('[[error 400]]', { model: kind }));
      expect(refused.status).toBe(400);
      const overloaded = await askModel(
        gateway.url,
        key,
        messageOf('[[error 529]]', { model: kind }),
      );
      expect(overloaded.status).toBe(529);
      const body = messageOf('Hi', { model: `${kind}-refused` });
      const answer = await askModel(gateway.url, key, body);
      expect(answer.status).toBe(502);
      expect(JSON.stringify(answer.body)).not.toMatch(/key/i);
    });
  },
);

describe('an upstream that cannot be reached', () => {
  it('is answered with 502, and nothing is charged', async () => {
    const { key, spent } = await createCaller();
    const body = messageOf('Hi', { model: 'away' });
    expect((await askModel(gateway.url, key, body)).status).toBe(502);
    expect(await spent()).toBe(0);
  });
});
