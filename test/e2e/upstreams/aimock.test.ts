import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { LLMock } from '@copilotkit/aimock';
import Anthropic from 'anthropic-sdk-1';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askGateway } from '../../support/clients/ask-gateway.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';

afterAll(stopRedisServers);

const cleanUp = useCleanUp();
const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 5 });
let gateway: Gateway;
/** The paths of all requests since the test began. */
const asked: string[] = [];

const TEXT = 'Good morning from the other side, wörld 🌍';
const CALL = { name: 'get_weather', arguments: '{"city":"Riga"}' };
const PATHS = { native: '/v1/messages', chat: '/v1/chat/completions' };
const USAGE = { input_tokens: 20, output_tokens: 9, prompt_tokens: 20, completion_tokens: 9 };
/** Credits per million tokens. */
const PRICE = { input: 1_000, output: 100_000 };
const COST = (20 * PRICE.input + 9 * PRICE.output) / 1e6;
const LATE_MS = 6_000;
const FIRST_BYTE = '3s';
/** The number of places of each kind. Each place has its own health. */
const PLACES = 11;
const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } } };

beforeAll(async () => {
  mock.onMessage('hello', { content: TEXT, usage: USAGE });
  mock.onMessage('weather', { toolCalls: [CALL], usage: USAGE });
  await mock.start();
  cleanUp(() => mock.stop());
  gateway = await startGateway({ config: encodeConfig(await startCounter(mock.port)), cleanUp });
});

beforeEach(() => {
  mock.clearChaos();
  asked.length = 0;
});

type AimockFormat = keyof typeof taken;
const taken = { native: 0, chat: 0 };

async function takePlace(kind: AimockFormat) {
  taken[kind] += 1;
  const model = `${kind}-${taken[kind]}`;
  const operator = admin(gateway);
  const account = await operator.createAccount();
  const { id, key } = await operator.createKey(account);
  return {
    model,
    key,
    native: new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 }),
    chat: new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 }),
    ask: (format: AimockFormat, isStream: boolean) =>
      askGateway({ url: gateway.url, key, model, format, isStream, prompt: 'hello' }),
    async spent() {
      await operator.waitUntilSettled(account);
      return (await operator.key(id)).spent_this_month;
    },
  };
}

describe.each(['native', 'chat'] as const)('aimock as an upstream of kind %s', (kind) => {
  const path = PATHS[kind];

  it.each([
    { format: 'native', isStream: false },
    { format: 'native', isStream: true },
    { format: 'chat', isStream: false },
    { format: 'chat', isStream: true },
  ] as const)(
    'tells $format clients its text and usage (stream: $isStream), which are paid',
    async ({ format, isStream }) => {
      const { ask, spent } = await takePlace(kind);
      expect(await ask(format, isStream)).toMatchObject({
        status: 200,
        text: TEXT,
        isComplete: true,
        outputTokens: USAGE.output_tokens,
      });
      expect(asked).toEqual([path]);
      expect(await spent()).toBeCloseTo(COST, 6);
    },
  );

  it('calls tools of native clients, whole and streamed', async () => {
    const { native, model } = await takePlace(kind);
    const question = {
      model,
      max_tokens: 100,
      messages: [{ role: 'user' as const, content: 'weather' }],
      tools: [{ name: CALL.name, input_schema: SCHEMA }],
    };
    const answers = [
      await native.messages.create(question),
      await native.messages.stream(question).finalMessage(),
    ];
    for (const { content, stop_reason, usage } of answers) {
      expect(stop_reason).toBe('tool_use');
      expect(content).toMatchObject([
        { type: 'tool_use', name: CALL.name, input: { city: 'Riga' } },
      ]);
      expect(usage).toMatchObject({ input_tokens: 20, output_tokens: 9 });
    }
    expect(asked).toEqual([path, path]);
  });

  it('calls tools of chat clients, whole and streamed', async () => {
    const { chat, model } = await takePlace(kind);
    const question = {
      model,
      messages: [{ role: 'user' as const, content: 'weather' }],
      tools: [{ type: 'function' as const, function: { name: CALL.name, parameters: SCHEMA } }],
    };
    const answers = [
      await chat.chat.completions.create(question),
      await chat.chat.completions
        .stream({ ...question, stream_options: { include_usage: true } })
        .finalChatCompletion(),
    ];
    for (const { choices, usage } of answers) {
      expect(choices).toMatchObject([
        { finish_reason: 'tool_calls', message: { tool_calls: [{ function: CALL }] } },
      ]);
      expect(usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 9 });
    }
    expect(asked).toEqual([path, path]);
  });

  // Each case has other words for its own kind of client. The tests above cover the other format.
  it.each([
    ['drops every request', { dropRate: 1 }, 502, 3],
    ['sends malformed JSON', { malformedRate: 1 }, 502, 3],
    ['hangs up', { disconnectRate: 1 }, 502, 3],
    ['limits the rate', { rateLimitRate: 1 }, kind === 'native' ? 529 : 503, 3],
    ['answers too late', { latencyMs: LATE_MS }, 504, 1],
  ])('that %s is asked as often as can help, and not paid', async (_, chaos, status, calls) => {
    const { ask, spent } = await takePlace(kind);
    mock.setChaos(chaos);
    // The time limit of a whole answer is longer than this test.
    const told = await ask(kind, kind === 'native' || 'latencyMs' in chaos);
    expect(told).toMatchObject({ status, text: '' });
    expect(told.error?.message).not.toMatch(/chaos/i);
    expect(asked).toEqual(Array(calls).fill(path));
    expect(await spent()).toBe(0);
  });
});

/** Stands in front of the mock, whose own journal does not list requests that were given up. */
async function startCounter(port: number): Promise<string> {
  const server = createServer((socket) => {
    const upstream = connect(port, '127.0.0.1');
    socket.on('data', (data) => {
      // The gateway writes the head of a request at once, and nothing but the body with it.
      const path = /^POST (\S+) /.exec(data.toString('latin1'))?.[1];
      if (path !== undefined) asked.push(path);
    });
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function encodeConfig(url: string): string {
  const rest = `max_output_tokens: 1000, price: ${JSON.stringify(PRICE)}`;
  const places = (['native', 'chat'] as const).flatMap((kind) =>
    Array.from({ length: PLACES }, (_, index) => ({ kind, place: `${kind}-${index + 1}` })),
  );
  const timeouts = `{connect: 5s, first_byte: ${FIRST_BYTE}, idle: 30s, total: 60s}`;
  return [
    'workers: 1',
    'models:',
    ...places.map(({ place }) => `  - {id: ${place}, ${rest}, routes: [{upstream: ${place}}]}`),
    'upstreams:',
    ...places.map(
      ({ kind, place }) =>
        `  - {name: ${place}, kind: ${kind}, url: "${url}", timeouts: ${timeouts}}`,
    ),
    '',
  ].join('\n');
}
