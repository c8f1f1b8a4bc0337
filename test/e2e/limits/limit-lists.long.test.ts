import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import {
  type Answered,
  askModel,
  askUntilAnswered,
  messageOf,
} from '../../support/clients/ask-model.ts';
import { type Nodes, startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { avoidMidnight } from '../../support/time/avoid-midnight.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

const REQUESTS = 1_000;
const CREDITS = 1_000;
const cleanUp = useCleanUp();
let nodes: Nodes['nodes'];

beforeAll(async () => {
  ({ nodes } = await startNodes({ settings: 'plans: {team: 1000000}\n', cleanUp }));
});
afterAll(stopRedisServers);

/** Asks both nodes at once, and so all of their workers. */
function askAll(key: string): Promise<Answered[]> {
  return Promise.all(
    Array.from({ length: REQUESTS }, (_, index) =>
      askUntilAnswered(nodes[index % 2 === 0 ? 0 : 1].url, key, messageOf('Hi', { max_tokens: 4 })),
    ),
  );
}

interface Told {
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

/** What the answers say that was used, by unit. */
function addUp(answers: readonly Answered[]) {
  const used = { requests: 0, tokens: 0, input_tokens: 0, output_tokens: 0 };
  for (const { status, body } of answers) {
    if (status !== 200) continue;
    const { usage } = body as unknown as Told;
    used.requests += 1;
    used.input_tokens += usage.input_tokens;
    used.output_tokens += usage.output_tokens;
  }
  used.tokens = used.input_tokens + used.output_tokens;
  return used;
}

/** What counts in the only limit that a key's owner is shown. */
async function readUsed(key: string): Promise<number> {
  const response = await fetch(`${nodes[0].url}/v1/key`, { headers: { 'x-api-key': key } });
  const { limits } = (await response.json()) as { limits: readonly { readonly used: number }[] };
  return limits[0]?.used ?? 0;
}

describe('a limit of an account, and a thousand requests at once on two nodes', () => {
  beforeAll(() => avoidMidnight(160_000), 400_000);

  it.each([
    { unit: 'requests', window: '5h', amount: 70 },
    { unit: 'tokens', window: '1h', amount: 900 },
    { unit: 'input_tokens', window: 'day', amount: 700 },
    { unit: 'output_tokens', window: 'week', amount: 150 },
  ] as const)('in $unit is never passed, and used up', async (limit) => {
    const account = await admin(nodes[0]).createAccount({ credits: CREDITS });
    await admin(nodes[0]).call('PATCH', `/accounts/${account}`, { limits: [limit] });
    const { key } = await admin(nodes[0]).createKey(account);
    const answers = await askAll(key);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    expect(addUp(answers)[limit.unit]).toBeLessThanOrEqual(limit.amount);
    const isUsedUp = async () => {
      // What running requests held and did not use is free again.
      await admin(nodes[0]).waitUntilSettled(account);
      answers.push(...(await askAll(key)));
      await admin(nodes[0]).waitUntilSettled(account);
      expect(addUp(answers)[limit.unit]).toBeLessThanOrEqual(limit.amount);
      return (await readUsed(key)) > 0.9 * limit.amount;
    };
    await waitUntil(isUsedUp, 'nearly all of it is used', 150_000);
    expect(await readUsed(key)).toBeLessThanOrEqual(limit.amount);
  });

  it('in credits of a day is never passed, and tells clients not to try again', async () => {
    const account = await admin(nodes[0]).createAccount({ credits: CREDITS });
    const amount = 0.01;
    await admin(nodes[0]).call('PATCH', `/accounts/${account}`, {
      limits: [{ unit: 'credits', window: 'day', amount }],
    });
    const { key } = await admin(nodes[0]).createKey(account);
    const answers = await askAll(key);
    await admin(nodes[0]).waitUntilSettled(account);
    const { balance } = await admin(nodes[0]).account(account);
    expect(CREDITS - balance).toBeLessThanOrEqual(amount);
    expect(CREDITS - balance).toBeGreaterThan(0);
    const refused = answers.find(({ status }) => status !== 200);
    expect(refused?.status).toBe(402);
    expect(refused?.headers.get('x-should-retry')).toBe('false');
    expect(refused?.body.error).toMatchObject({ type: 'billing_error' });
  });
});

describe('a refusal by a list', () => {
  it('names level, unit, window, limit, what is used and held, and when there is room', async () => {
    const account = await admin(nodes[0]).createAccount();
    const limits = [{ unit: 'tokens', window: '1h', amount: 40 }];
    const { key } = await admin(nodes[0]).createKey(account, { limits });
    expect((await askModel(nodes[0].url, key, messageOf('Hi', { max_tokens: 4 }))).status).toBe(
      200,
    );
    await admin(nodes[0]).waitUntilSettled(account);
    const body = messageOf('Hi', { max_tokens: 33 });
    const { status, headers, body: answer } = await askModel(nodes[1].url, key, body);
    expect(status).toBe(429);
    expect((answer.error as { message: string }).message).toMatch(
      /^This request would exceed a limit of this API key, 40 tokens per hour: \d+ used and 0 held by running requests\. There is room again in [\d.]+ seconds\.$/,
    );
    // Nobody waits for an hour.
    expect(headers.get('x-should-retry')).toBe('false');
  });

  it('of a request that is larger than the limit ever allows is a 400', async () => {
    const account = await admin(nodes[0]).createAccount();
    const limits = [{ unit: 'output_tokens', window: 'month', amount: 40 }];
    const { key } = await admin(nodes[0]).createKey(account, { limits });
    const { status, body } = await askModel(nodes[0].url, key, messageOf('Hi', { max_tokens: 41 }));
    expect(status).toBe(400);
    expect((body.error as { message: string }).message).toContain(
      'may need 41 output tokens, which is more than a limit of this API key ever allows, 40 output tokens per calendar month (UTC)',
    );
  });
});

describe('a list of limits in the admin API', () => {
  it('is shown as it was set, and replaced as a whole', async () => {
    const account = await admin(nodes[0]).createAccount();
    const first = { unit: 'tokens', window: '60s', amount: 400_000 };
    const second = { unit: 'credits', window: 'month', amount: 2.5, action: 'warn' };
    const { id } = await admin(nodes[0]).createKey(account, { limits: [first, second] });
    expect(await admin(nodes[1]).key(id)).toMatchObject({
      limits: [{ ...first, window: '1m', action: 'block' }, second],
    });
    await admin(nodes[0]).setKey(id, { rpm: 5 });
    expect(await admin(nodes[1]).key(id)).toMatchObject({ rpm: 5, limits: [{}, {}] });
    await admin(nodes[0]).setKey(id, { limits: [] });
    expect(await admin(nodes[1]).key(id)).toMatchObject({ limits: [] });
  });

  it.each([
    [[{ unit: 'words', window: '1m', amount: 1 }], 'must be one of requests'],
    [[{ unit: 'tokens', window: '1y', amount: 1 }], 'such as 10s, 1m or 5h'],
    [[{ unit: 'tokens', window: '1m', amount: 1.5 }], 'must be a whole number'],
    [[{ unit: 'tokens', window: '1m', amount: -1 }], 'must be a whole number'],
    [[{ unit: 'tokens', window: '1m', amount: 1, action: 'shout' }], 'must be one of block, warn'],
    [
      [
        { unit: 'tokens', window: '1m', amount: 1 },
        { unit: 'tokens', window: '60s', amount: 2 },
      ],
      'each unit and window once',
    ],
    [
      Array.from({ length: 17 }, (_, n) => ({ unit: 'tokens', window: `${n + 1}s`, amount: 1 })),
      '16',
    ],
  ])('refuses %j', async (limits, message) => {
    const account = await admin(nodes[0]).createAccount();
    await expect(admin(nodes[0]).createKey(account, { limits })).rejects.toThrow(message);
  });
});
