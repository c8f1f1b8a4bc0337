import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents';
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
} from '../support/upstreams/thinking-vendors.ts';

// It would tell its vendor about each run.
setTracingDisabled(true);

const KINDS = ['native', 'chat', 'responses'] as const;
/** An upstream of chat completions has no thoughts that come back. */
const ANSWERS = { native: VERIFIED, chat: UNTHOUGHT, responses: VERIFIED };
const QUESTION = 'How is the weather in Oslo?';

const undos: (() => void | Promise<void>)[] = [];
let vendors: ThinkingVendors;
let gateway: Gateway;

beforeAll(async () => {
  vendors = await startThinkingVendors((undo) => undos.push(undo));
  const rest = 'max_output_tokens: 1000, price: {input: 1, output: 5}';
  const config = [
    'workers: 1',
    'models:',
    ...KINDS.map((kind) => `  - {id: over-${kind}, ${rest}, routes: [{upstream: ${kind}}]}`),
    'upstreams:',
    ...KINDS.map((kind) => `  - {name: ${kind}, kind: ${kind}, url: "${vendors.url}/${kind}"}`),
    '',
  ].join('\n');
  gateway = await startGateway({ config, cleanUp: (undo) => undos.push(undo) });
}, 60_000);

afterAll(async () => {
  for (const undo of undos.reverse()) await undo();
  await stopRedisServers();
});

/** An agent with one tool, and the cities that it was asked about. */
function createAgent(kind: (typeof KINDS)[number], store: boolean | undefined) {
  const client = new OpenAI({
    ...{ apiKey: gateway.key(), baseURL: `${gateway.url}/v1`, maxRetries: 0 },
  });
  const cities: string[] = [];
  const getWeather = tool({
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: z.object({ city: z.string() }),
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
