import { randomBytes } from 'node:crypto';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { Redis } from 'ioredis';
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mintApiKey } from '../../../src/keys/api-key.ts';
import { admin } from '../../support/clients/admin.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import { type Nodes, startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_UPSTREAM } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const MODEL = 'llm-haiku-4.5';
afterAll(stopRedisServers);
const cleanUp = useCleanUp();
let fleet: Nodes;

beforeAll(async () => {
  fleet = await startNodes({ workers: 1, cleanUp });
});
async function createKey() {
  const operator = admin(fleet.nodes[0]);
  const account = await operator.createAccount({ credits: 10 });
  return { operator, account, key: (await operator.createKey(account)).key };
}

const connect = (apiKey: string, node: Gateway = fleet.nodes[0]) =>
  new OpenAI({ apiKey, baseURL: `${node.url}/v1`, maxRetries: 0 });

const isThere = (asked: Promise<unknown>) =>
  asked.then(
    () => true,
    () => false,
  );

const WEATHER = {
  get_weather: tool({
    description: 'Tells the weather',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `sunny in ${city}`,
  }),
};

describe('answers that clients refer to', () => {
  it('are there in the next step of the AI SDK, whole and streamed, whichever node it asks', async () => {
    const { key } = await createKey();
    let asked = 0;
    // Each step asks the other node.
    const fetchByTurns: typeof fetch = (url, init) => {
      const [one, other] = fleet.nodes;
      asked += 1;
      return fetch(String(url).replace(one.url, asked % 2 === 0 ? other.url : one.url), init);
    };
    const provider = createOpenAI({
      apiKey: key,
      baseURL: `${fleet.nodes[0].url}/v1`,
      fetch: fetchByTurns,
    });
    const loop = {
      model: provider(MODEL),
      tools: WEATHER,
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      prompt: '[[thinking]] Weather? [[tool get_weather {"city": "Oslo"}]]',
    };
    const whole = await generateText(loop);
    expect(whole.text).toContain('sunny in Oslo');
    expect(whole.steps.length).toBe(2);
    expect(JSON.stringify(whole.steps.at(-1)?.request.body)).toContain('item_reference');
    const streamed = streamText(loop);
    expect(await streamed.text).toContain('sunny in Oslo');
    expect((await streamed.steps).length).toBe(2);
  });

  it('lead back through all answers before them, and are charged with all of these', async () => {
    const { key } = await createKey();
    const [one, other] = fleet.nodes;
    const long = 'word '.repeat(400);
    const first = await connect(key, one).responses.create({ model: MODEL, input: long });
    const second = await connect(key, other)
      .responses.stream({ model: MODEL, input: 'More', previous_response_id: first.id })
      .finalResponse();
    const third = await connect(key, one).responses.create({
      model: MODEL,
      input: 'And more',
      previous_response_id: second.id,
    });
    for (const made of [first, second, third]) expect(made).toMatchObject({ store: true });
    const tokens = [first, second, third].map(({ usage }) => usage?.input_tokens ?? 0);
    expect(tokens[1]).toBeGreaterThan(tokens[0] ?? Infinity);
    expect(tokens[2]).toBeGreaterThan(tokens[1] ?? Infinity);
  });

  it('can be read, listed and deleted by their account, and by nobody else', async () => {
    const { key } = await createKey();
    const stranger = await createKey();
    const client = connect(key);
    const { _request_id: _, ...made } = await client.responses.create({
      ...{ model: MODEL, input: '[[thinking]] Hello', metadata: { a: 'b' } },
    });
    const { id } = made;
    const { _request_id: __, ...read } = await connect(key, fleet.nodes[1]).responses.retrieve(id);
    expect(read).toEqual(made);
    await expect(client.responses.retrieve(id, { stream: true })).rejects.toMatchObject({
      ...{ status: 400, param: 'stream' },
    });
    const items = await client.responses.inputItems.list(id);
    expect(items.data).toMatchObject([
      { role: 'user', content: [{ type: 'input_text', text: '[[thinking]] Hello' }] },
    ]);
    const foreign = connect(stranger.key).responses;
    const item = made.output[0]?.id ?? '';
    const attempts = [
      () => foreign.retrieve(id),
      () => foreign.inputItems.list(id),
      () => foreign.delete(id),
      () => foreign.create({ model: MODEL, input: 'x', previous_response_id: id }),
      () => foreign.create({ model: MODEL, input: [{ type: 'item_reference', id: item }] }),
    ];
    for (const attempt of attempts) {
      await expect(attempt()).rejects.toMatchObject({
        message: expect.stringMatching(/not found/),
      });
    }
    await expect(client.responses.cancel(id)).rejects.toMatchObject({ status: 400 });
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.delete(id)).rejects.toMatchObject({ status: 404 });
    await expect(
      client.responses.create({ model: MODEL, input: 'x', previous_response_id: id }),
    ).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' });
  });

  it('are not kept if their client does not want it', async () => {
    const { key } = await createKey();
    const client = connect(key);
    const made = await client.responses.create({ model: MODEL, input: 'Hello', store: false });
    expect(made).toMatchObject({ store: false });
    await expect(client.responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    await expect(
      client.responses.create({
        ...{ model: MODEL },
        input: [{ type: 'item_reference', id: made.output[0]?.id ?? '' }],
      }),
    ).rejects.toMatchObject({
      ...{ status: 400, param: 'input' },
      message: expect.stringMatching(/Items are not persisted when `store` is set to false/),
    });
  });

  it('belong to the account, whatever becomes of the key that asked', async () => {
    const { operator, account, key } = await createKey();
    const second = await operator.createKey(account);
    const made = await connect(second.key).responses.create({ model: MODEL, input: 'Hello' });
    await operator.revoke(second.id);
    const next = { model: MODEL, input: 'x', previous_response_id: made.id };
    const revoked = connect(second.key).responses;
    for (const attempt of [revoked.retrieve(made.id), revoked.create(next)]) {
      await expect(attempt).rejects.toMatchObject({ status: 401 });
    }
    expect((await connect(key).responses.create(next)).previous_response_id).toBe(made.id);
  });

  it('leave nothing behind when their time is over', async () => {
    const { account, key } = await createKey();
    const client = connect(key);
    const made = await client.responses.create({ model: MODEL, input: 'Hello' });
    const redis = new Redis(fleet.redis.port);
    const names = await redis.keys('gw:*kept*');
    for (const name of names) expect(await redis.pttl(name)).toBeGreaterThan(0);
    // The time of this one answer is over while its account keeps others.
    const [kept = ''] = names.filter((name) => name.endsWith(`:kept:${account}`));
    const head = await redis.hget(kept, `p${made.id}`);
    await redis.hset(kept, `p${made.id}`, String(head).replace(/^\d+/, '1'));
    await expect(client.responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    const next = await client.responses.create({ model: MODEL, input: 'Hello' });
    expect(await redis.hkeys(kept)).toEqual(
      expect.arrayContaining(['p', 'o', 'i', 'r'].map((letter) => `${letter}${next.id}`)),
    );
    const queue = kept.replace('kept:', 'kept-queue:');
    expect([await redis.hlen(kept), await redis.llen(queue)]).toEqual([4, 1]);
    await redis.quit();
  });

  it('are refused if the settings keep nothing, as clients know it from their vendor', async () => {
    const node = await fleet.startNode({
      config: `workers: 1\n${FAST_UPSTREAM}kept_answers: {enabled: false}\n`,
      cleanUp,
    });
    const { key } = await createKey();
    const client = connect(key, node);
    const made = await client.responses.create({ model: MODEL, input: 'Hello' });
    expect(made).toMatchObject({ store: false });
    const provider = createOpenAI({ apiKey: key, baseURL: `${node.url}/v1` });
    const loop = {
      ...{ model: provider(MODEL), tools: WEATHER, stopWhen: stepCountIs(3), maxRetries: 0 },
      prompt: '[[thinking]] Weather? [[tool get_weather {"city": "Oslo"}]]',
    };
    await expect(generateText(loop)).rejects.toThrow(
      /Items are not persisted when `store` is set to false/,
    );
    const resent = await generateText({ ...loop, providerOptions: { openai: { store: false } } });
    expect(resent.text).toContain('sunny in Oslo');
    await expect(client.responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('requests that refer to answers and are refused', () => {
  it('are bounded for each key, and those of others who know its id do not count', async () => {
    const node = await fleet.startNode({
      config: `workers: 1\n${FAST_UPSTREAM}guards: {failed_keys_per_minute: 100000}\n`,
      cleanUp,
    });
    const { operator, account } = await createKey();
    const { id, key } = await operator.createKey(account);
    const refer = async (apiKey: string, previous = 'resp_none') => {
      const order = { model: MODEL, input: 'Hello', previous_response_id: previous };
      const made = connect(apiKey, node).responses.create(order);
      return made.then(
        () => 200,
        (error: unknown) => (error instanceof APIError ? error.status : undefined),
      );
    };
    const { id: known } = await connect(key, node).responses.create({ model: MODEL, input: 'Hi' });
    const forged = Array.from({ length: 120 }, () => mintApiKey(id, randomBytes));
    // On a busy machine Redis answers some of so many too late.
    const statusesOf = async (asked: readonly Promise<number | undefined>[]) =>
      new Set((await Promise.all(asked)).filter((status) => status !== 503));
    expect(await statusesOf(forged.map((each) => refer(each)))).toEqual(new Set([401]));
    await waitUntil(async () => (await refer(key, known)) === 200, 'its own key is served');
    const own = await statusesOf(Array.from({ length: 120 }, () => refer(key)));
    expect(own).toEqual(new Set([400, 429]));
  });
});

describe('the routes beside responses', () => {
  it('count tokens, with what the request refers to', async () => {
    const { key } = await createKey();
    const client = connect(key);
    const made = await client.responses.create({ model: MODEL, input: 'word '.repeat(90) });
    const count = async (fields: object) =>
      (await client.responses.inputTokens.count({ model: MODEL, input: 'Hello', ...fields }))
        .input_tokens;
    expect(await count({ previous_response_id: made.id })).toBeGreaterThan(100 + (await count({})));
  });

  it('need a key, and say what is not there', async () => {
    const { key } = await createKey();
    await expect(connect('sk-gw2-no').responses.retrieve('resp_1')).rejects.toMatchObject({
      status: 401,
    });
    await expect(connect(key).responses.compact({ model: MODEL })).rejects.toMatchObject({
      ...{ status: 404, code: 'unknown_url' },
      message: expect.stringMatching(/POST \/v1\/responses/),
    });
    const upgrade = await fetch(`${fleet.nodes[0].url}/v1/responses`);
    expect(upgrade.status).toBe(405);
  });
});

describe('while Redis does not answer', () => {
  it('answers that run say that they are not kept, and are charged; references are refused', async () => {
    const { operator, account, key } = await createKey();
    const client = connect(key);
    const made = await client.responses.create({ model: MODEL, input: 'Hello' });
    await operator.waitUntilSettled(account);
    const { balance } = await operator.account(account);
    const stream = await client.responses.create({
      ...{ model: MODEL, input: '[[tokens 40]] [[slow 100]]', stream: true },
    });
    let stored: OpenAI.Responses.Response | undefined;
    let isFrozen = false;
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta' && !isFrozen) {
        isFrozen = true;
        fleet.redis.signal('SIGSTOP');
      }
      if (event.type === 'response.completed') stored = event.response;
    }
    expect(stored).toMatchObject({ store: false });
    const next = { model: MODEL, input: 'x', previous_response_id: made.id };
    await expect(client.responses.create(next)).rejects.toMatchObject({ status: 503 });
    fleet.redis.signal('SIGCONT');
    await operator.waitUntilSettled(account);
    const { input_tokens: input = NaN } = stored?.usage ?? {};
    const after = (await operator.account(account)).balance;
    expect(balance - after).toBeCloseTo((input + 5 * 40) / 1e6, 9);
    await waitUntil(() => isThere(client.responses.create(next)), 'references are followed again');
  });
});
