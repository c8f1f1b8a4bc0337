import OpenAI from 'openai';
import type { Responses } from 'openai/resources';
import { describe, expect, it } from 'vitest';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const gateway = useGateway({ config: FAST_CONFIG });

const MODEL = 'llm-haiku-4.5';
const connect = (apiKey = gateway().key()) =>
  new OpenAI({ apiKey, baseURL: `${gateway().url}/v1`, maxRetries: 0 });
const ask = (input: string) => ({ model: MODEL, input, store: false });
const WEATHER = {
  type: 'function' as const,
  name: 'get_weather',
  strict: null,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
};

describe('the client library of the Responses format', () => {
  it('gets a whole response with its usage', async () => {
    const response = await connect().responses.create(ask('Hello!'));
    expect(response).toMatchObject({ object: 'response', model: MODEL, status: 'completed' });
    expect(response.output_text).toMatch(/\w/);
    const {
      input_tokens: input,
      output_tokens: output,
      total_tokens: total,
    } = response.usage ?? {};
    expect(total).toBe((input ?? 0) + (output ?? 0));
  });

  it('streams a response that its helper puts together', async () => {
    const stream = connect().responses.stream(ask('[[thinking]] Hello!'));
    const types = new Set<string>();
    for await (const event of stream) types.add(event.type);
    const response = await stream.finalResponse();
    expect(response.output_text).toMatch(/\w/);
    expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(types).toContain('response.reasoning_summary_text.delta');
  });

  it('takes two calls at once through their whole round', async () => {
    const client = connect();
    const question = '[[tool get_weather {"city": "Rome"}]] [[tool get_weather {"city": "Oslo"}]]';
    const first = await client.responses
      .stream({ ...ask(question), tools: [WEATHER] })
      .finalResponse();
    const calls = first.output.filter((item) => item.type === 'function_call');
    expect(calls.map((call) => JSON.parse(call.arguments))).toEqual([
      { city: 'Rome' },
      { city: 'Oslo' },
    ]);
    const second = await client.responses.create({
      ...{ model: MODEL, store: false, tools: [WEATHER] },
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: question },
        ...(first.output as Responses.ResponseInputItem[]),
        ...calls.map(({ call_id }) => ({
          type: 'function_call_output' as const,
          ...{ call_id, output: 'sunny' },
        })),
      ],
    });
    expect(second.output.map(({ type }) => type)).toEqual(['message']);
  });

  it('gives a custom tool its raw text, streamed and whole', async () => {
    const tools = [{ type: 'custom' as const, name: 'apply_patch' }];
    const request = { ...ask('[[tool apply_patch {"input": "a \\"b\\"\\n c"}]]'), tools };
    const text = 'a "b"\n c';
    const whole = await connect().responses.create(request);
    expect(whole.output.at(-1)).toMatchObject({ type: 'custom_tool_call', input: text });
    let told = '';
    for await (const event of await connect().responses.create({ ...request, stream: true })) {
      if (event.type === 'response.custom_tool_call_input.delta') told += event.delta;
    }
    expect(told).toBe(text);
  });

  it('gets structured output that satisfies its schema', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
      required: ['name', 'age'],
    };
    const response = await connect().responses.create({
      ...ask('A person, please.'),
      text: { format: { type: 'json_schema', name: 'person', schema } },
    });
    expect(JSON.parse(response.output_text)).toMatchObject({
      name: expect.any(String),
      age: expect.any(Number),
    });
  });

  it('is told of an answer that was too long', async () => {
    const cut = { ...ask('[[tokens 50]]'), max_output_tokens: 5 };
    expect(await connect().responses.create(cut)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'message', status: 'incomplete' }],
    });
  });

  it('gets the reason when an answer breaks off in the middle', async () => {
    const stream = connect().responses.stream(ask('[[error 529 after 3]] Hello!'));
    await expect(stream.finalResponse()).rejects.toThrow();
  });

  it('gets its own error class, code and field for each refusal', async () => {
    const { responses } = connect();
    const refusals = [
      [connect('sk-gw2-nobody').responses.create(ask('Hi')), 401, 'invalid_api_key', null],
      [responses.create({ ...ask('Hi'), model: 'none' }), 404, 'model_not_found', 'model'],
      [responses.create({ ...ask('Hi'), background: true }), 400, 'invalid_value', 'background'],
      [
        responses.create({ ...ask('Hi'), conversation: 'conv_1' }),
        ...([400, 'invalid_value', 'conversation'] as const),
      ],
      [
        responses.create({
          ...ask('Hi'),
          tools: [{ type: 'web_search' }],
          tool_choice: 'required',
        }),
        ...([400, 'invalid_value', 'tool_choice'] as const),
      ],
      [
        responses.create({
          ...{ model: MODEL, store: false },
          input: [{ type: 'function_call_output', call_id: 'x', output: '' }],
        }),
        ...([400, 'invalid_value', 'input[0].call_id'] as const),
      ],
    ] as const;
    // At once, since one that is refused before somebody looks would be an unhandled rejection.
    await Promise.all(
      refusals.map(([answer, status, code, param]) =>
        expect(answer).rejects.toMatchObject({ status, code, param }),
      ),
    );
  });
});
