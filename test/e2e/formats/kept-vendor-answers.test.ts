import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { admin } from '../../support/clients/admin.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import {
  startThinkingVendors,
  type ThinkingVendors,
  VERIFIED,
} from '../../support/upstreams/thinking-vendors.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';

const MODEL = 'vendor-model';
afterAll(stopRedisServers);
const cleanUp = useCleanUp();
let vendors: ThinkingVendors;
let gateway: Gateway;

beforeAll(async () => {
  vendors = await startThinkingVendors(cleanUp);
  const price = 'max_output_tokens: 1000, price: {input: 1, output: 5}';
  const config = [
    ...['workers: 1', `models: [{id: ${MODEL}, ${price}}]`],
    `upstreams: [{name: vendor, kind: responses, url: "${vendors.url}/vendor"}]`,
  ];
  gateway = await startGateway({ config: `${config.join('\n')}\n`, cleanUp });
});
async function createKey(): Promise<string> {
  const operator = admin(gateway);
  return (await operator.createKey(await operator.createAccount({ credits: 10 }))).key;
}

const connect = (apiKey: string) =>
  new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 }).responses;

const QUESTION = { role: 'user' as const, content: 'How is Oslo?' };
const TOOLS = [
  {
    type: 'function' as const,
    name: 'get_weather',
    strict: false,
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
];

interface Order {
  readonly input: OpenAI.Responses.ResponseInput;
  readonly previous_response_id?: string;
}

async function ask(key: string, order: Order, isStream = false) {
  const asked = { model: MODEL, tools: TOOLS, ...order };
  return isStream
    ? await connect(key).stream(asked).finalResponse()
    : await connect(key).create({ ...asked, stream: false });
}

describe('answers of an upstream of the Responses format', () => {
  it.each([false, true])(
    'are kept under our names, and the upstream gets all they stand for, streamed: %s',
    async (isStream) => {
      const key = await createKey();
      const { id, output } = await ask(key, { input: [QUESTION] }, isStream);
      expect(output.map(({ type }) => type)).toEqual(['reasoning', 'function_call']);
      expect(JSON.stringify([id, output])).not.toMatch(/_vendor/);
      const call = output.find((item) => item.type === 'function_call');
      const callId = call?.type === 'function_call' ? call.call_id : '';
      const result = {
        type: 'function_call_output' as const,
        ...{ call_id: callId, output: '7' },
      };
      const references = output.map((item) => ({
        type: 'item_reference' as const,
        id: String(item.id),
      }));
      const byAnswer = await ask(key, { input: [result], previous_response_id: id }, isStream);
      const byItems = await ask(key, { input: [QUESTION, ...references, result] }, isStream);
      expect([byAnswer.output_text, byItems.output_text]).toEqual([VERIFIED, VERIFIED]);
      expect(byAnswer).toMatchObject({ previous_response_id: id, store: true });
      for (const { body } of vendors.requests.slice(-2)) {
        expect(body).toMatchObject({ store: false, model: MODEL });
        expect(body).not.toHaveProperty('previous_response_id');
        expect(body['input']).toMatchObject([
          { role: 'user' },
          { type: 'reasoning', id: 'rs_vendor' },
          { type: 'function_call', name: 'get_weather' },
          { type: 'function_call_output', output: '7' },
        ]);
      }
    },
  );

  it('are there in the next step of the AI SDK', async () => {
    const provider = createOpenAI({ apiKey: await createKey(), baseURL: `${gateway.url}/v1` });
    const weather = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => `sunny in ${city}`,
    });
    const loop = {
      ...{ model: provider(MODEL), tools: { get_weather: weather } },
      ...{ stopWhen: stepCountIs(3), maxRetries: 0, prompt: 'How is Oslo?' },
    };
    const whole = await generateText(loop);
    expect(JSON.stringify(whole.steps.at(-1)?.request.body)).toContain('item_reference');
    expect([whole.text, await streamText(loop).text]).toEqual([VERIFIED, VERIFIED]);
  });

  it('can be read, listed and deleted by their account; for others they are unknown', async () => {
    const key = await createKey();
    const { _request_id: _, ...made } = await connect(key).create({ model: MODEL, input: 'Oslo?' });
    const { _request_id: __, ...read } = await connect(key).retrieve(made.id);
    expect(read).toEqual(made);
    expect((await connect(key).inputItems.list(made.id)).data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Oslo?' }] },
    ]);

    const stranger = connect(await createKey());
    const tellRefusal = async (attempt: Promise<unknown>, id: string) => {
      const error = await attempt.catch((refused: unknown) => refused);
      if (!(error instanceof APIError)) throw error;
      return { status: error.status, message: error.message.replaceAll(id, 'ID') };
    };
    const ways = [
      (id: string) => stranger.retrieve(id),
      (id: string) => stranger.inputItems.list(id),
      (id: string) => stranger.delete(id),
      (id: string) => stranger.create({ model: MODEL, input: 'x', previous_response_id: id }),
    ];
    for (const way of ways) {
      const [foreign, unknown] = await Promise.all(
        [made.id, 'resp_none'].map((id) => tellRefusal(way(id), id)),
      );
      expect(foreign).toEqual(unknown);
      expect([400, 404]).toContain(foreign?.status);
    }

    await connect(key).delete(made.id);
    await expect(connect(key).retrieve(made.id)).rejects.toMatchObject({ status: 404 });
  });
});
