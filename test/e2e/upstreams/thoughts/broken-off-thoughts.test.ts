import OpenAI from 'openai';
import { beforeAll, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../../support/servers/start-gateway.ts';
import {
  askThinker,
  configOf,
  type Items,
  QUESTION,
  RESULT,
  ROUTES,
} from '../../../support/upstreams/thinking-scene.ts';
import {
  startThinkingVendors,
  type ThinkingVendors,
  UNTHOUGHT,
  VERIFIED,
} from '../../../support/upstreams/thinking-vendors.ts';
import { useCleanUp } from '../../../support/use-clean-up.ts';

const cleanUp = useCleanUp();
const MODEL = 'first-native';
let vendors: ThinkingVendors;
let gateway: Gateway;

beforeAll(async () => {
  vendors = await startThinkingVendors(cleanUp);
  gateway = await startGateway({ config: configOf(vendors.url, ROUTES), cleanUp });
});

async function ask(input: Items): Promise<Items> {
  const baseURL = `${gateway.url}/v1`;
  const client = new OpenAI({ apiKey: gateway.key(), baseURL, maxRetries: 0 });
  return (await askThinker(client, { model: MODEL, input }, true)).output as Items;
}

/** What a client sends whose first answer broke off behind its thought. */
async function thinkTwice(): Promise<Items> {
  const [thought] = await ask([QUESTION]);
  if (thought === undefined) throw new Error('no thought');
  const output = await ask([QUESTION, thought]);
  const call = output.find(({ type }) => type === 'function_call');
  if (call?.type !== 'function_call') throw new Error('no call');
  return [QUESTION, thought, ...output, { ...RESULT, call_id: call.call_id }];
}

it('the thought of an answer that broke off does not stand beside that of the next one', async () => {
  const items = await thinkTwice();
  expect(items.map(({ type }) => type ?? 'message')).toEqual([
    ...['message', 'reasoning', 'reasoning', 'function_call', 'function_call_output'],
  ]);
  const before = vendors.requests.length;
  expect(JSON.stringify(await ask(items))).toContain(VERIFIED);
  expect(vendors.requests.length).toBe(before + 1);
});

it('thoughts that their own upstream finds changed are left out, and it is asked again', async () => {
  // Some clients leave out the ids, so nobody can tell that the thoughts are of two answers.
  const items = (await thinkTwice()).map((item) => ({ ...item, id: undefined })) as Items;
  const before = vendors.requests.length;
  expect(JSON.stringify(await ask(items))).toContain(UNTHOUGHT);
  expect(vendors.requests.length).toBe(before + 2);
});
