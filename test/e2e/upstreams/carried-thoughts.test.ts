import Anthropic from 'anthropic-sdk-1';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { isAlive } from '../../support/is-alive.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import {
  type AskOptions,
  askThinker,
  configOf,
  expectUnknown,
  type Items,
  LATER_ROUTES,
  NEXT,
  QUESTION,
  RESULT,
  ROUTES,
  reseal,
  sealedOf,
  THOUGHTLESS,
} from '../../support/upstreams/thinking-scene.ts';
import {
  startThinkingVendors,
  type ThinkingVendors,
  UNTHOUGHT,
  VERIFIED,
} from '../../support/upstreams/thinking-vendors.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);
const cleanUp = useCleanUp();
let vendors: ThinkingVendors;
let gateway: Gateway;
/** Another node on the same Redis. */
let neighbour: Gateway;
let otherKey: string;
/** The key of an account that both nodes know. */
let key: string;

beforeAll(async () => {
  vendors = await startThinkingVendors(cleanUp);
  const redis = await startRedisServer();
  const env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
  gateway = await startGateway({ config: configOf(vendors.url, ROUTES), env, cleanUp });
  neighbour = await startGateway({ config: configOf(vendors.url, LATER_ROUTES), env, cleanUp });
  const operator = admin(gateway);
  ({ key } = await operator.createKey(await operator.createAccount()));
  ({ key: otherKey } = await operator.createKey(await operator.createAccount()));
});

const openai = (apiKey = key, node = gateway) =>
  new OpenAI({ apiKey, baseURL: `${node.url}/v1`, maxRetries: 0 });

type Asker = AskOptions & { readonly asker?: string; readonly node?: Gateway };

function ask(model: string, input: Items, isStream: boolean, asker: Asker = {}) {
  return askThinker(openai(asker.asker, asker.node), { model, input }, isStream, asker);
}

/** The model's first turn, as the client sends it back. */
async function think(model: string, isStream: boolean, node = gateway): Promise<Items> {
  const { output } = await ask(model, [QUESTION], isStream, { node });
  const call = output.find(({ type }) => type === 'function_call');
  if (call?.type !== 'function_call') throw new Error(`no call: ${JSON.stringify(output)}`);
  return [QUESTION, ...(output as Items), { ...RESULT, call_id: call.call_id }];
}

/** Those that were asked since there were so many requests. */
const askedSince = (count: number) => vendors.requests.slice(count).map(({ vendor }) => vendor);

describe.each(['first-native', 'first-responses'])(
  'a tool loop without a store over %s',
  (model) => {
    it.each([false, true])('goes on with its thoughts, streamed: %s', async (isStream) => {
      const items = await think(model, isStream);
      expect(items.map(({ type }) => type ?? 'message')).toEqual([
        ...['message', 'reasoning', 'function_call', 'function_call_output'],
      ]);
      expect(sealedOf(items)).toMatch(/^tg1\.[\w-]{100,}$/);
      const { output_text: text, model: named, status } = await ask(model, items, isStream);
      expect({ text, named, status }).toEqual({
        text: VERIFIED,
        named: model,
        status: 'completed',
      });
      expect(JSON.stringify(vendors.requests.at(-1)?.body)).not.toContain('tg1.');
    });

    it.each([
      ['changed', (sealed: string) => `${sealed.slice(0, -8)}AAAAAAAA`],
      ['cut', (sealed: string) => sealed.slice(0, 40)],
      ['made up', () => 'tg1.aGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8'],
    ])('is refused with a thought that was %s, until the user goes on', async (_how, change) => {
      const items = await think(model, false);
      const changed = reseal(items, change(sealedOf(items)));
      const before = vendors.requests.length;
      await expectUnknown(ask(model, changed, false));
      await expectUnknown(ask(model, changed, true));
      expect(askedSince(before)).toEqual([]);
      const { output_text: text } = await ask(model, [...changed, NEXT], false);
      expect(text).toBe(UNTHOUGHT);
    });

    it('is refused with the thought of another account, until the user goes on', async () => {
      const items = await think(model, false);
      const asker = { asker: otherKey };
      await expectUnknown(ask(model, items, false, asker));
      expect((await ask(model, [...items, NEXT], false, asker)).output_text).toBe(UNTHOUGHT);
    });

    it('goes on without a thought that never came from here', async () => {
      const items = reseal(await think(model, false), 'gAAAAABo');
      expect((await ask(model, items, false)).output_text).toBe(UNTHOUGHT);
    });
  },
);

describe.each(['either-native', 'either-responses'])('of two upstreams, %s', (model) => {
  it('is asked the one that has thought', async () => {
    const answers: string[] = [];
    for (let i = 0; i < 6; i++) {
      const items = await think(model, i % 2 === 0);
      answers.push((await ask(model, items, i % 2 === 0)).output_text);
    }
    expect(answers).toEqual(Array(6).fill(VERIFIED));
  });
});

describe.each(['native', 'responses'])('thoughts of a %s upstream', (kind) => {
  it('are refused when it is gone, until the user goes on', async () => {
    const model = `ranked-${kind}`;
    const items = await think(model, true);
    const before = vendors.requests.length;
    await expectUnknown(ask(model, items, false, { node: neighbour }));
    const rest = items.filter((item) => !('type' in item) || item.type !== 'reasoning');
    for (const input of [rest, [...items, NEXT]]) {
      const { output_text: text } = await ask(model, input, true, { node: neighbour });
      expect(text).toBe(UNTHOUGHT);
    }
    expect(new Set(askedSince(before))).toEqual(new Set([`second-${kind}`]));
  });

  it('are left out for an upstream that takes none', async () => {
    const items = await think(`moved-${kind}`, false);
    const { output_text: text } = await ask(`moved-${kind}`, items, false, { node: neighbour });
    expect(text).toBe(UNTHOUGHT);
    expect(vendors.requests.at(-1)?.vendor).toBe(THOUGHTLESS);
  });

  it('that are kept go back, and the refusal names the earlier answer', async () => {
    const model = `ranked-${kind}`;
    const kept = { store: true };
    const { output, id } = await ask(model, [QUESTION], false, kept);
    const call = output.find(({ type }) => type === 'function_call');
    const result = { ...RESULT, call_id: call?.type === 'function_call' ? call.call_id : '' };
    const goOn = (node: Gateway) => ask(model, [result], false, { ...kept, node, previous: id });
    expect((await goOn(gateway)).output_text).toBe(VERIFIED);
    const thought = output.find(({ type }) => type === 'reasoning')?.id;
    await expect(goOn(neighbour)).rejects.toMatchObject({
      ...{ status: 400, param: 'previous_response_id' },
      message: expect.stringContaining(`without the item '${thought}'`),
    });
  });
});

it('a request whose upstream is out does not go to one that cannot read its thoughts', async () => {
  const model = 'ranked-responses';
  const items = await think(model, true);
  const before = vendors.requests.length;
  vendors.setOut('first-responses', true);
  await expect(ask(model, items, false)).rejects.toMatchObject({ status: 503 });
  expect(new Set(askedSince(before))).toEqual(new Set(['first-responses']));
  expect((await ask(model, [...items, NEXT], false)).output_text).toBe(UNTHOUGHT);
  vendors.setOut('first-responses', false);
  await waitUntil(
    async () => (await ask(model, items, false).catch(() => undefined))?.output_text === VERIFIED,
    'its thoughts go back',
  );
});

it('an upstream that refuses the thoughts of another one is asked again without them, once', async () => {
  const items = await think('first-native', false);
  const before = vendors.requests.length;
  const { output_text: text } = await ask('second-native', items, false);
  expect(text).toBe(UNTHOUGHT);
  expect(vendors.requests.slice(before).map(({ vendor }) => vendor)).toEqual([
    'second-native',
    'second-native',
  ]);
});

it.each([
  ['second-responses', 'first-responses'],
  ['first-native', 'first-responses'],
  ['first-responses', 'first-native'],
])('the thoughts of %s are not sent to %s', async (origin, model) => {
  const items = await think(origin, false);
  const before = vendors.requests.length;
  expect((await ask(model, items, false)).output_text).toBe(UNTHOUGHT);
  expect(vendors.requests.length).toBe(before + 1);
});

it('another node of the fleet goes on with the thoughts, and so it does when its secret is replaced', async () => {
  const goOn = async (items: Items) =>
    (await ask('first-native', items, false, { node: neighbour })).output_text;
  const config = configOf(vendors.url, LATER_ROUTES);
  const reload = async (secrets: readonly string[]) => {
    const oldPids = neighbour.workerPids();
    neighbour.setConfig(`${config}reasoning_secrets: ${JSON.stringify(secrets)}\n`);
    neighbour.signal('SIGHUP');
    // Until then an idle connection may carry a request to a worker with the old secrets.
    await waitUntil(() => !oldPids.some(isAlive), 'the old workers have ended');
  };
  expect(await goOn(await think('first-native', false))).toBe(VERIFIED);
  const [old, recent] = ['the-one-before-1', 'the-one-behind-2'];
  await reload([old]);
  const items = await think('first-native', false, neighbour);
  await reload([recent, old]);
  expect(await goOn(items)).toBe(VERIFIED);
});

describe('a native client', () => {
  const tools = [{ name: 'get_weather', input_schema: { type: 'object' as const } }];

  it.each([false, true])(
    'keeps the thoughts of a responses upstream, streamed: %s',
    async (isStream) => {
      const client = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 });
      const say = async (messages: Anthropic.MessageParam[]) => {
        const asked = { model: 'first-responses', max_tokens: 1_000, messages, tools };
        return isStream
          ? await client.messages.stream(asked).finalMessage()
          : await client.messages.create(asked);
      };
      const { content, stop_reason: why, usage } = await say([QUESTION]);
      expect(content.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
      expect(content[0]).toMatchObject({ signature: expect.stringMatching(/^tg1\./) });
      expect(why).toBe('tool_use');
      expect(usage).toMatchObject({
        ...{ input_tokens: 15, cache_read_input_tokens: 10, cache_creation_input_tokens: 5 },
        output_tokens: 12,
      });
      const result = { type: 'tool_result' as const, tool_use_id: 'call_4k2xq9wz', content: '7' };
      const after = await say([
        QUESTION,
        { role: 'assistant', content: content as Anthropic.ContentBlockParam[] },
        { role: 'user', content: [result] },
      ]);
      expect(after.content).toMatchObject([{ type: 'text', text: VERIFIED }]);

      const [thought, ...others] = content as Anthropic.ContentBlockParam[];
      const forged = { ...thought, signature: 'tg1.Zm9yZ2Vk' } as Anthropic.ContentBlockParam;
      const again = say([
        QUESTION,
        { role: 'assistant', content: [forged, ...others] },
        { role: 'user', content: [result] },
      ]);
      await expect(again).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('Invalid `signature` in `thinking` block: it was changed'),
      });
    },
  );
});

it('a chat client gets the thought, the call and the usage', async () => {
  const { choices, usage } = await openai().chat.completions.create({
    model: 'first-responses',
    messages: [QUESTION],
    tools: [{ type: 'function', function: { name: 'get_weather' } }],
  });
  expect(choices).toMatchObject([
    {
      finish_reason: 'tool_calls',
      message: {
        reasoning_content: 'The weather has to be looked up.',
        tool_calls: [{ id: 'call_4k2xq9wz', function: { name: 'get_weather' } }],
      },
    },
  ]);
  expect(usage).toMatchObject({
    ...{ prompt_tokens: 30, completion_tokens: 12 },
    completion_tokens_details: { reasoning_tokens: 4 },
  });
});
