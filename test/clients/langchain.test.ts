import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const gateway = useGateway({ config: FAST_CONFIG });

const MODEL = 'llm-haiku-4.5';
const MODELS = {
  anthropic: () =>
    new ChatAnthropic({
      model: MODEL,
      apiKey: gateway().key(),
      anthropicApiUrl: gateway().url,
      maxRetries: 0,
      maxTokens: 500,
    }),
  openai: () =>
    new ChatOpenAI({
      model: MODEL,
      apiKey: gateway().key(),
      configuration: { baseURL: `${gateway().url}/v1` },
      maxRetries: 0,
    }),
  responses: () =>
    new ChatOpenAI({
      model: MODEL,
      apiKey: gateway().key(),
      configuration: { baseURL: `${gateway().url}/v1` },
      useResponsesApi: true,
      maxRetries: 0,
    }),
};
const WEATHER = {
  name: 'get_weather',
  description: 'The weather',
  schema: z.object({ city: z.string() }),
};

describe.each(Object.entries(MODELS))('LangChain with its %s model', (_name, createModel) => {
  it('invokes and streams with usage', async () => {
    const message = await createModel().invoke('Hello!');
    expect(message.text).toMatch(/\w/);
    expect(message.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) });
    let text = '';
    for await (const chunk of await createModel().stream('Hello!')) text += chunk.text;
    expect(text).toMatch(/\w/);
  });

  it('calls a tool and goes on with its result', async () => {
    const model = createModel().bindTools([WEATHER]);
    const question = new HumanMessage('[[tool get_weather {"city": "Rome"}]]');
    const first = await model.invoke([question]);
    expect(first.tool_calls).toEqual([
      expect.objectContaining({ name: 'get_weather', args: { city: 'Rome' } }),
    ]);
    const id = first.tool_calls?.[0]?.id ?? '';
    const second = await model.invoke([question, first, new ToolMessage('sunny', id)]);
    expect(second.text).toMatch(/\w/);
    expect(second.tool_calls).toEqual([]);
  });

  it('gives structured output', async () => {
    const person = await createModel()
      .withStructuredOutput(z.object({ name: z.string(), age: z.number().int() }))
      .invoke('A person, please.');
    expect(person).toEqual({ name: expect.any(String), age: expect.any(Number) });
  });

  it('rejects with the status of a refusal', async () => {
    await expect(createModel().invoke('[[error 400]]')).rejects.toMatchObject({ status: 400 });
  });
});
