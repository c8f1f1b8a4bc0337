import Anthropic from 'anthropic-sdk-1';
import OpenAI from 'openai';
import { afterAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

/** The tested gateway stands in front of another gateway with its simulated upstream. */
const backend = useGateway({ config: FAST_CONFIG });

const MODEL = 'llm-haiku-4.5';
const WEATHER_SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};

function configFor(kind: 'native' | 'chat', url: string, key: string): string {
  const timeouts = '{connect: 1s, first_byte: 5s, idle: 5s, total: 60s}';
  return `workers: 1\nupstreams: [{name: main, kind: ${kind}, url: "${url}", api_key: ${key}, timeouts: ${timeouts}}]\n`;
}

describe.each(['native', 'chat'] as const)(
  'a gateway in front of an upstream of kind %s',
  (kind) => {
    async function start() {
      const gateway = await startGateway({
        config: configFor(kind, backend().url, backend().key()),
      });
      const operator = admin(gateway);
      const account = await operator.createAccount({ credits: 5 });
      const { id, key } = await operator.createKey(account);
      return {
        gateway,
        key,
        native: new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 }),
        chat: new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 }),
        async spent() {
          await operator.waitUntilSettled(account);
          return (await operator.key(id)).spent_this_month;
        },
      };
    }

    const ask = (content: string) => ({
      model: MODEL,
      max_tokens: 200,
      messages: [{ role: 'user' as const, content }],
    });

    it('answers native clients, whole and streamed, with the same words and usage', async () => {
      const { native, spent } = await start();
      const whole = await native.messages.create(ask('Hello! [[tokens 20]]'));
      const streamed = await native.messages.stream(ask('Hello! [[tokens 20]]')).finalMessage();
      expect(whole).toMatchObject({
        model: MODEL,
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
      const { chat } = await start();
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
      const { native, chat } = await start();
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

    it('passes on what the upstream says of a request, and keeps its own trouble with it to itself', async () => {
      const { gateway, key } = await start();
      const refused = await askModel(gateway.url, key, messageOf('[[error 400]]'));
      expect(refused.status).toBe(400);
      const overloaded = await askModel(gateway.url, key, messageOf('[[error 529]]'));
      expect(overloaded.status).toBe(529);
      const wrong = await startGateway({
        config: configFor(kind, backend().url, 'sk-gw2-wrong'),
      });
      const answer = await askModel(wrong.url, wrong.key(), messageOf('Hi'));
      expect(answer.status).toBe(502);
      expect(JSON.stringify(answer.body)).not.toMatch(/key/i);
    });

    it('stops the upstream when its client leaves, and bills what came', async () => {
      const { gateway, key, spent } = await start();
      const endless = messageOf('[[tokens 8000]] [[slow 20]]', { max_tokens: 8_000 });
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
  },
);

describe('an upstream that cannot be reached', () => {
  it('is answered with 502, and nothing is charged', async () => {
    const gateway = await startGateway({ config: configFor('native', 'http://127.0.0.1:1', 'k') });
    const operator = admin(gateway);
    const account = await operator.createAccount({ credits: 5 });
    const { key } = await operator.createKey(account);
    expect((await askModel(gateway.url, key, messageOf('Hi'))).status).toBe(502);
    await operator.waitUntilSettled(account);
    expect((await operator.account(account)).balance).toBe(5);
  });
});
