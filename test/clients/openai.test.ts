import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { countStatuses } from '../support/clients/count-statuses.ts';
import { failFirstFetch } from '../support/clients/fail-first-fetch.ts';
import { createLimitedKeys, createSlowKey } from '../support/clients/limited-keys.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const gateway = useGateway({ config: `${FAST_CONFIG}limits: {rate_window: 2s}\n` });

const MODEL = 'llm-haiku-4.5';
const connect = (apiKey = gateway().key()) =>
  new OpenAI({ apiKey, baseURL: `${gateway().url}/v1`, maxRetries: 0 });
const ask = (content: string) => ({
  model: MODEL,
  messages: [{ role: 'user' as const, content }],
});
const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
  },
};

describe('the chat client library', () => {
  it('gets a whole completion with its usage', async () => {
    const completion = await connect().chat.completions.create(ask('Hello!'));
    expect(completion).toMatchObject({ object: 'chat.completion', model: MODEL });
    expect(completion.id).toMatch(/^chatcmpl-/);
    expect(completion.choices[0]).toMatchObject({
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: expect.stringMatching(/\w/) },
    });
    expect(completion.usage?.total_tokens).toBe(
      (completion.usage?.prompt_tokens ?? 0) + (completion.usage?.completion_tokens ?? 0),
    );
  });

  it('streams it, with usage when asked', async () => {
    const stream = await connect().chat.completions.create({
      ...ask('Hello!'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let finish: string | null | undefined;
    let usage: unknown;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      usage = chunk.usage ?? usage;
    }
    expect(text).toMatch(/\w/);
    expect(finish).toBe('stop');
    expect(usage).toMatchObject({
      prompt_tokens: expect.any(Number),
      completion_tokens: expect.any(Number),
    });
  });

  it('takes a tool call through its whole round', async () => {
    const client = connect();
    const first = await client.chat.completions.create({
      ...ask('What is the weather?'),
      tools: [WEATHER],
      tool_choice: 'required',
    });
    const message = first.choices[0]?.message;
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    const call = message?.tool_calls?.[0];
    if (message === undefined || call?.type !== 'function') throw new Error('no tool was called');
    expect(JSON.parse(call.function.arguments)).toMatchObject({ city: expect.any(String) });
    const second = await client.chat.completions.create({
      model: MODEL,
      tools: [WEATHER],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is the weather?' },
        message,
        { role: 'tool', tool_call_id: call.id, content: 'sunny' },
      ],
    });
    expect(second.choices[0]?.finish_reason).toBe('stop');
  });

  it('streams a tool call that its helper puts together', async () => {
    const completion = await connect()
      .chat.completions.stream({
        ...ask('What is the weather?'),
        tools: [WEATHER],
        tool_choice: 'required',
      })
      .finalChatCompletion();
    const call = completion.choices[0]?.message.tool_calls?.[0];
    expect(call).toMatchObject({
      function: { name: 'get_weather', arguments: expect.stringContaining('city') },
    });
  });

  it('gets structured output that satisfies its schema', async () => {
    const completion = await connect().chat.completions.create({
      ...ask('A person, please.'),
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'person',
          schema: {
            type: 'object',
            properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
            required: ['name', 'age'],
          },
        },
      },
    });
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toMatchObject({
      name: expect.any(String),
      age: expect.any(Number),
    });
  });

  it('gets its own error class and code for each refusal', async () => {
    const client = connect();
    await expect(connect('sk-gw2-nobody').chat.completions.create(ask('Hi'))).rejects.toMatchObject(
      {
        status: 401,
        code: 'invalid_api_key',
      },
    );
    await expect(
      client.chat.completions.create({ ...ask('Hi'), model: 'none' }),
    ).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    await expect(
      client.chat.completions.create({ ...ask('Hi'), temperature: 3 }),
    ).rejects.toMatchObject({
      status: 400,
      param: 'temperature',
    });
    // Chat clients do not know 529.
    await expect(client.chat.completions.create(ask('[[error 529]]'))).rejects.toMatchObject({
      status: 503,
    });
    await expect(client.chat.completions.create(ask('[[error 429]]'))).rejects.toBeInstanceOf(
      OpenAI.RateLimitError,
    );
  });

  it.each([
    [400, 400, 'BadRequestError'],
    [429, 429, 'RateLimitError'],
    [500, 500, 'InternalServerError'],
    [502, 502, 'InternalServerError'],
    [503, 503, 'InternalServerError'],
    [504, 504, 'InternalServerError'],
    [529, 503, 'InternalServerError'],
  ] as const)('reads an upstream error of status %d as %d', async (upstream, status, className) => {
    const failing = ask(`[[error ${upstream}]]`);
    for (const isStream of [false, true]) {
      const error = await connect()
        .chat.completions.create({ ...failing, stream: isStream })
        .then(
          () => undefined,
          (reason: unknown) => reason,
        );
      expect(error).toBeInstanceOf(OpenAI[className]);
      expect(error).toMatchObject({ status, requestID: expect.stringMatching(/^req_/) });
    }
  });

  it('gets its own error class where credits or controls refuse, and does not try again', async () => {
    const { poor, narrow } = await createLimitedKeys(gateway());
    const statuses: number[] = [];
    const connectAs = (apiKey: string) =>
      new OpenAI({
        apiKey,
        baseURL: `${gateway().url}/v1`,
        maxRetries: 3,
        fetch: countStatuses(statuses),
      });
    await expect(connectAs(poor).chat.completions.create(ask('Hi'))).rejects.toMatchObject({
      status: 402,
      code: 'insufficient_quota',
      type: 'insufficient_quota',
    });
    const refused = connectAs(narrow).chat.completions.create(ask('Hi'));
    await expect(refused).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
    await expect(refused).rejects.toMatchObject({ code: 'model_not_allowed', param: 'model' });
    expect(statuses).toEqual([402, 403]);
  });

  it('waits out a rate limit of its key, and is answered then', async () => {
    const statuses: number[] = [];
    const client = new OpenAI({
      apiKey: await createSlowKey(gateway()),
      baseURL: `${gateway().url}/v1`,
      fetch: countStatuses(statuses),
    });
    await client.chat.completions.create(ask('Hi'));
    await client.chat.completions.create(ask('Hi'));
    expect(statuses).toEqual([200, 429, 200]);
  });

  it('waits as long as a 429 says, and is answered then', async () => {
    const statuses: number[] = [];
    const client = new OpenAI({
      apiKey: gateway().key(),
      baseURL: `${gateway().url}/v1`,
      maxRetries: 1,
      fetch: failFirstFetch(statuses),
    });
    const completion = await client.chat.completions.create(ask('Hello!'));
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect(statuses).toEqual([429, 200]);
  });

  it('stops a stream in the middle without harm', async () => {
    const stream = await connect().chat.completions.create({
      ...ask('[[tokens 200]] [[slow 20]]'),
      stream: true,
    });
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) {
        stream.controller.abort();
        break;
      }
    }
    expect((await fetch(`${gateway().url}/health`)).status).toBe(200);
  });

  it('hears of an error in the middle of a stream', async () => {
    const stream = await connect().chat.completions.create({
      ...ask('[[error 529 after 3]]'),
      stream: true,
    });
    await expect(async () => {
      for await (const _chunk of stream) {
        // Reads on until the stream breaks.
      }
    }).rejects.toBeInstanceOf(OpenAI.APIError);
  });

  it('lists models', async () => {
    const models: string[] = [];
    for await (const model of connect().models.list()) models.push(model.id);
    expect(models).toContain('sonnet');
    expect(models).toContain('llm-sonnet-4.6');
  });
});
