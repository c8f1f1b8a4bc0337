import * as sdk0 from 'anthropic-sdk-0';
import * as sdk1 from 'anthropic-sdk-1';
import { describe, expect, it } from 'vitest';
import { countStatuses } from '../support/clients/count-statuses.ts';
import { failFirstFetch } from '../support/clients/fail-first-fetch.ts';
import { createLimitedKeys, createSlowKey } from '../support/clients/limited-keys.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const gateway = useGateway({ config: `${FAST_CONFIG}limits: {rate_window: 2s}\n` });

const unreliable = useGateway({
  config:
    'workers: 1\nupstreams: [{name: simulated, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms, error_rate: 0.4}}]\n',
});

const MODEL = 'llm-haiku-4.5';
const WEATHER = {
  name: 'get_weather',
  description: 'The weather at a place',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
    required: ['city', 'days'],
  },
};

// Both majors have the same surface where these tests use it. Their types differ only in details
// that these tests do not use.
describe.each([
  ['0.x', sdk0 as unknown as typeof sdk1],
  ['1.x', sdk1],
])('the native client library %s', (_major, sdk) => {
  const connect = (apiKey = gateway().key()) =>
    new sdk.default({ apiKey, baseURL: gateway().url, maxRetries: 0 });
  const ask = (content: string) => ({
    model: MODEL,
    max_tokens: 300,
    messages: [{ role: 'user' as const, content }],
  });

  it('gets a whole message with its usage and request id', async () => {
    const message = await connect().messages.create(ask('Hello!'));
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: MODEL,
      stop_reason: 'end_turn',
    });
    expect(message.id).toMatch(/^msg_/);
    expect(message.content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/\w/) });
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect(message._request_id).toMatch(/^req_/);
  });

  it('streams the same message', async () => {
    let text = '';
    const stream = connect()
      .messages.stream(ask('Hello!'))
      .on('text', (piece) => {
        text += piece;
      });
    const message = await stream.finalMessage();
    expect(message.stop_reason).toBe('end_turn');
    expect(message.content).toEqual([expect.objectContaining({ type: 'text', text })]);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect(message.usage.input_tokens).toBeGreaterThan(0);
  });

  it('takes a tool call through its whole round', async () => {
    const client = connect();
    const first = await client.messages.create({
      ...ask('What is the weather?'),
      tools: [WEATHER],
      tool_choice: { type: 'tool', name: 'get_weather' },
    });
    expect(first.stop_reason).toBe('tool_use');
    const call = first.content.find((block) => block.type === 'tool_use');
    if (call?.type !== 'tool_use') throw new Error('no tool was called');
    expect(call).toMatchObject({
      name: 'get_weather',
      input: { city: expect.any(String), days: expect.any(Number) },
    });

    const second = await client.messages.create({
      ...ask('What is the weather?'),
      tools: [WEATHER],
      messages: [
        { role: 'user', content: 'What is the weather?' },
        { role: 'assistant', content: first.content as never },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: call.id, content: 'sunny' }],
        },
      ],
    });
    expect(second.stop_reason).toBe('end_turn');
    expect(second.content[0]).toMatchObject({ type: 'text' });
  });

  it('streams a tool call with its input', async () => {
    const stream = connect().messages.stream({
      ...ask('What is the weather?'),
      tools: [WEATHER],
      tool_choice: { type: 'any' },
    });
    const message = await stream.finalMessage();
    const call = message.content.find((block) => block.type === 'tool_use');
    expect(call).toMatchObject({ input: { city: expect.any(String), days: expect.any(Number) } });
  });

  it('ends a stream in the middle without harm', async () => {
    const stream = await connect().messages.create({ ...ask('Hello!'), stream: true });
    for await (const event of stream) {
      if (event.type === 'content_block_delta') break;
    }
    expect((await fetch(`${gateway().url}/health`)).status).toBe(200);
  });

  it('gets its own error class for each refusal', async () => {
    const client = connect();
    await expect(connect('sk-gw2-nobody').messages.create(ask('Hi'))).rejects.toBeInstanceOf(
      sdk.AuthenticationError,
    );
    await expect(
      client.messages.create({ ...ask('Hi'), model: 'llm-none' }),
    ).rejects.toBeInstanceOf(sdk.NotFoundError);
    await expect(client.messages.create({ ...ask('Hi'), max_tokens: 0.5 })).rejects.toBeInstanceOf(
      sdk.BadRequestError,
    );
    await expect(client.messages.create({ ...ask('Hi'), max_tokens: 20_000 })).rejects.toThrow(
      /max_tokens: 20000 > 8192, which is the maximum allowed number of output tokens for llm-haiku-4\.5/,
    );
    await expect(client.messages.create(ask('[[error 529]]'))).rejects.toMatchObject({
      status: 529,
    });
    await expect(client.messages.create(ask('[[error 500]]'))).rejects.toBeInstanceOf(
      sdk.InternalServerError,
    );
    await expect(client.messages.create(ask('[[error 429]]'))).rejects.toBeInstanceOf(
      sdk.RateLimitError,
    );
  });

  it.each([
    [400, 'BadRequestError'],
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
    [502, 'InternalServerError'],
    [503, 'APIError'],
    [504, 'APIError'],
    [529, 'APIError'],
  ] as const)('reads an error of status %d, whole and streamed', async (status, className) => {
    const failing = ask(`[[error ${status}]]`);
    const client = connect();
    for (const send of [
      () => client.messages.create(failing),
      () => client.messages.stream(failing).finalMessage(),
    ]) {
      const error = await send().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(sdk[className]);
      expect(error).toMatchObject({ status, requestID: expect.stringMatching(/^req_/) });
    }
  });

  it('gets its own error class where credits or controls refuse, and does not try again', async () => {
    const { poor, narrow } = await createLimitedKeys(gateway());
    const ask402 = connect(poor).messages.create(ask('Hi'));
    await expect(ask402).rejects.toMatchObject({
      status: 402,
      message: expect.stringContaining('credit balance is too low'),
    });
    await expect(connect(narrow).messages.create(ask('Hi'))).rejects.toBeInstanceOf(
      sdk.PermissionDeniedError,
    );
    const statuses: number[] = [];
    const insisting = new sdk.default({
      apiKey: poor,
      baseURL: gateway().url,
      maxRetries: 3,
      fetch: countStatuses(statuses),
    });
    await expect(insisting.messages.create(ask('Hi'))).rejects.toThrow();
    expect(statuses).toEqual([402]);
  });

  it('waits out a rate limit of its key, and is answered then', async () => {
    const key = await createSlowKey(gateway());
    const statuses: number[] = [];
    const client = new sdk.default({
      apiKey: key,
      baseURL: gateway().url,
      fetch: countStatuses(statuses),
    });
    await client.messages.create(ask('Hi'));
    await client.messages.create(ask('Hi'));
    expect(statuses).toEqual([200, 429, 200]);
  });

  it('waits as long as a 429 says, and is answered then', async () => {
    const statuses: number[] = [];
    const client = new sdk.default({
      apiKey: gateway().key(),
      baseURL: gateway().url,
      maxRetries: 1,
      fetch: failFirstFetch(statuses),
    });
    expect((await client.messages.create(ask('Hello!'))).stop_reason).toBe('end_turn');
    expect(statuses).toEqual([429, 200]);
  });

  it('tries again by itself what is worth it, until it is answered', async () => {
    const client = new sdk.default({
      apiKey: unreliable().key(),
      baseURL: unreliable().url,
      maxRetries: 8,
    });
    for (let i = 0; i < 4; i++) {
      expect((await client.messages.create(ask('Hello!'))).stop_reason).toBe('end_turn');
    }
  });

  it('hears of an error in the middle of a stream', async () => {
    const stream = connect().messages.stream(ask('[[error 529 after 3]]'));
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(sdk.APIError);
  });

  it('lists models, finds one by its alias, and counts tokens', async () => {
    const client = connect();
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids.toSorted()).toEqual(
      ['haiku', 'llm-haiku-4.5', 'llm-opus-4.7', 'llm-sonnet-4.6', 'opus', 'sonnet'].toSorted(),
    );
    expect(await client.models.retrieve('haiku')).toMatchObject({
      id: 'haiku',
      display_name: expect.any(String),
    });
    const { input_tokens } = await client.messages.countTokens({
      model: MODEL,
      messages: [{ role: 'user', content: 'Hello!' }],
    });
    expect(input_tokens).toBeGreaterThan(0);
    const thinking = await client.messages.countTokens({
      model: MODEL,
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      messages: [{ role: 'user', content: 'Hello!' }],
    });
    expect(thinking.input_tokens).toBe(input_tokens);
  });
});
