import type { ServerResponse } from 'node:http';
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents';
import { tool as aiTool, generateText, stepCountIs, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import {
  startThinkingVendors,
  type ThinkingVendors,
  UNTHOUGHT,
  VERIFIED,
  type VendorRequest,
} from '../support/upstreams/thinking-vendors.ts';
import { useCleanUp } from '../support/use-clean-up.ts';

// It would tell its vendor about each run.
setTracingDisabled(true);

const KINDS = ['native', 'chat', 'responses'] as const;
/** An upstream of chat completions has no thoughts that come back. */
const ANSWERS = { native: VERIFIED, chat: UNTHOUGHT, responses: VERIFIED };
const QUESTION = 'How is the weather in Oslo?';

afterAll(stopRedisServers);
const cleanUp = useCleanUp();
let vendors: ThinkingVendors;
let gateway: Gateway;

beforeAll(async () => {
  vendors = await startThinkingVendors(cleanUp, { silent: answerNothing });
  const rest = 'max_output_tokens: 1000, price: {input: 1, output: 5}';
  const config = [
    'workers: 1',
    'models:',
    ...KINDS.map((kind) => `  - {id: over-${kind}, ${rest}, routes: [{upstream: ${kind}}]}`),
    `  - {id: over-silent, ${rest}, routes: [{upstream: silent}]}`,
    'upstreams:',
    ...KINDS.map((kind) => `  - {name: ${kind}, kind: ${kind}, url: "${vendors.url}/${kind}"}`),
    `  - {name: silent, kind: chat, url: "${vendors.url}/silent"}`,
    '',
  ].join('\n');
  gateway = await startGateway({ config, cleanUp });
});

/** A model that ends its turn without a word. */
function answerNothing({ body }: VendorRequest, response: ServerResponse): void {
  const usage = { prompt_tokens: 30, completion_tokens: 1, total_tokens: 31 };
  const answer = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'vendor-name', usage };
  const said = { role: 'assistant', content: '' };
  const choices = [{ index: 0, delta: said, message: said, finish_reason: 'stop' }];
  const json = JSON.stringify({ ...answer, choices });
  const isStream = body['stream'] === true;
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
  response.end(isStream ? `data: ${json}\n\ndata: [DONE]\n\n` : json);
}

const place = () => ({ apiKey: gateway.key(), baseURL: `${gateway.url}/v1` });
const CITY = z.object({ city: z.string() });

/** An agent with one tool, and the cities that it was asked about. */
function createAgent(kind: (typeof KINDS)[number] | 'silent', store: boolean | undefined) {
  const client = new OpenAI({ ...place(), maxRetries: 0 });
  const cities: string[] = [];
  const getWeather = tool({
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: CITY,
    execute({ city }) {
      cities.push(city);
      return '7 degrees';
    },
  });
  const agent = new Agent({
    name: 'Weather',
    instructions: 'Be brief.',
    model: new OpenAIResponsesModel(client, `over-${kind}`),
    modelSettings: { ...(store !== undefined && { store }), reasoning: { effort: 'high' } },
    tools: [getWeather],
  });
  return { agent, cities };
}

describe.each(KINDS)('an agent over an upstream of kind %s', (kind) => {
  it.each([
    ['whole', undefined],
    ['whole, without a store', false],
  ])('calls its tool, and goes on from what the model thought: %s', async (_, store) => {
    const { agent, cities } = createAgent(kind, store);
    const { finalOutput, rawResponses } = await run(agent, QUESTION);
    expect(finalOutput).toBe(ANSWERS[kind]);
    expect(cities).toEqual(['Oslo']);
    expect(rawResponses.map(({ usage }) => usage.outputTokens > 0)).toEqual([true, true]);
  });

  it('does so with a stream', async () => {
    const { agent, cities } = createAgent(kind, false);
    const result = await run(agent, QUESTION, { stream: true });
    let told = '';
    for await (const event of result) {
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') {
        told += event.data.delta;
      }
    }
    await result.completed;
    expect(told).toBe(ANSWERS[kind]);
    expect(result.finalOutput).toBe(ANSWERS[kind]);
    expect(cities).toEqual(['Oslo']);
  });
});

describe('an agent whose model says nothing', () => {
  it.each([
    ['whole', false],
    ['with a stream', true],
  ])('does not ask it again, %s', async (_, isStream) => {
    const asked = () => vendors.requests.filter(({ vendor }) => vendor === 'silent').length;
    const before = asked();
    const { agent } = createAgent('silent', undefined);
    const result = isStream
      ? await run(agent, QUESTION, { stream: true })
      : await run(agent, QUESTION);
    if ('completed' in result) await result.completed;
    expect(result.finalOutput).toBe('');
    expect(asked() - before).toBe(1);
  });
});

describe.each(KINDS)('the library of the format, over an upstream of kind %s', (kind) => {
  const asked = {
    model: `over-${kind}`,
    reasoning: { effort: 'high' as const },
    tools: [
      {
        type: 'function' as const,
        name: 'get_weather',
        strict: false,
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
      },
    ],
  };

  it.each([
    ['whole', false],
    ['with a stream', true],
  ])('takes a call through its round, %s', async (_, isStream) => {
    const { responses } = new OpenAI({ ...place(), maxRetries: 0 });
    const ask = async (input: OpenAI.Responses.ResponseInput) =>
      isStream
        ? await responses.stream({ ...asked, input, store: false }).finalResponse()
        : await responses.create({ ...asked, input, store: false, stream: false });
    const { output } = await ask([{ role: 'user', content: QUESTION }]);
    const call = output.find((item) => item.type === 'function_call');
    if (call?.type !== 'function_call') throw new Error(`no call: ${JSON.stringify(output)}`);
    expect(JSON.parse(call.arguments)).toEqual({ city: 'Oslo' });
    const result = {
      type: 'function_call_output' as const,
      ...{ call_id: call.call_id, output: '7 degrees' },
    };
    const said = output as OpenAI.Responses.ResponseInput;
    const { output_text: text } = await ask([{ role: 'user', content: QUESTION }, ...said, result]);
    expect(text).toBe(ANSWERS[kind]);
  });
});

describe.each(KINDS)('the AI SDK over an upstream of kind %s', (kind) => {
  it.each([
    ['that keeps its answers', true],
    ['without a store', false],
  ])('takes its tool loop to the end, %s', async (_, store) => {
    const loop = {
      model: createOpenAI(place())(`over-${kind}`),
      tools: { get_weather: aiTool({ inputSchema: CITY, execute: () => '7 degrees' }) },
      ...{ stopWhen: stepCountIs(3), maxRetries: 0, prompt: QUESTION },
      providerOptions: { openai: { store } },
    };
    const whole = await generateText(loop);
    const streamed = streamText(loop);
    expect([whole.text, await streamed.text]).toEqual([ANSWERS[kind], ANSWERS[kind]]);
    expect([whole.steps.length, (await streamed.steps).length]).toEqual([2, 2]);
  });
});

describe.each(KINDS)('LangChain over an upstream of kind %s', (kind) => {
  it('takes a call through its round', async () => {
    const { apiKey, baseURL } = place();
    const model = new ChatOpenAI({
      ...{ model: `over-${kind}`, apiKey, configuration: { baseURL } },
      ...{ useResponsesApi: true, maxRetries: 0 },
    }).bindTools([{ name: 'get_weather', description: 'The weather', schema: CITY }]);
    const question = new HumanMessage(QUESTION);
    const first = await model.invoke([question]);
    const [call] = first.tool_calls ?? [];
    expect(call).toMatchObject({ name: 'get_weather', args: { city: 'Oslo' } });
    const last = await model.invoke([question, first, new ToolMessage('7', call?.id ?? '')]);
    expect(last.text).toBe(ANSWERS[kind]);
  });
});
