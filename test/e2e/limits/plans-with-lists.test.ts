import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { type Nodes, startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';

const SETTINGS = `plans:
  starter: 1000000
  hobby:
    requests: 1000
    limits: [{unit: tokens, window: 1h, amount: 60}, {unit: requests, window: day, amount: 50}]
limits: {hold_output_max: 20}
`;
const cleanUp = useCleanUp();
let nodes: Nodes['nodes'];
let redis: Nodes['redis'];

beforeAll(async () => {
  ({ nodes, redis } = await startNodes({ settings: SETTINGS, cleanUp }));
});
afterAll(stopRedisServers);

const operate = () => admin(nodes[0]);
const ask = (key: string, more: object) => askModel(nodes[1].url, key, messageOf('Hi', more));

describe('a plan of any name', () => {
  it('has limits of any kind, beside those of the account and the key', async () => {
    const account = await operate().createAccount({ plan: 'hobby' });
    const limits = [{ unit: 'credits', window: 'day', amount: 5 }];
    await operate().call('PATCH', `/accounts/${account}`, { limits });
    const { id, key } = await operate().createKey(account, {
      limits: [{ unit: 'output_tokens', window: '1m', amount: 1000, action: 'warn' }],
    });
    const { status, headers } = await ask(key, { max_tokens: 4 });
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-tokens-limit': '60',
      'ratelimit-policy':
        '"rpm";q=1000;w=60, "requests";q=50;w=86400, "tokens";q=60;qu="tokens";w=3600',
    });
    await operate().waitUntilSettled(account);
    const own = await fetch(`${nodes[0].url}/v1/key`, { headers: { 'x-api-key': key } });
    const { limits: told } = (await own.json()) as { limits: { unit: string; used: number }[] };
    expect(told).toMatchObject([
      { level: 'key', unit: 'output_tokens', window: '1m', amount: 1000, action: 'warn', held: 0 },
      { level: 'account', unit: 'credits', window: 'day', amount: 5, action: 'block', held: 0 },
      { level: 'account', unit: 'tokens', window: '1h', amount: 60, action: 'block', held: 0 },
      { level: 'account', unit: 'requests', window: 'day', amount: 50, used: 1 },
    ]);
    for (const { used } of told) expect(used).toBeGreaterThan(0);
    expect(
      await operate()
        .call('GET', `/keys/${id}/limits`)
        .then((shown) => (shown as typeof shown & { limits: object }).limits),
    ).toEqual(told);
    const refused = await ask(key, {
      max_tokens: 15,
      messages: [{ role: 'user', content: 'x'.repeat(120) }],
    });
    expect([refused.status, refused.body.error?.message]).toEqual([
      429,
      expect.stringContaining('a limit of this account, 60 tokens per hour'),
    ]);
    expect(refused.headers.get('anthropic-ratelimit-tokens-remaining')).toMatch(/^\d+$/);
  });

  it('is refused unless it is sold, and the refusal names those that are', async () => {
    await expect(operate().createAccount({ plan: 'gold' })).rejects.toThrow(
      'plan: must be one of starter, pro, business, team, hobby',
    );
  });
});

describe('hold_output_max', () => {
  it('admits what asks for more than a limit, which what it used then may pass', async () => {
    const account = await operate().createAccount({ plan: 'starter' });
    const { key } = await operate().createKey(account, {
      limits: [{ unit: 'output_tokens', window: '1h', amount: 25 }],
    });
    const body = { max_tokens: 4_000 };
    const { status, headers, body: answer } = await ask(key, body);
    expect([status, headers.get('x-tollgate-max-tokens')]).toEqual([200, null]);
    await operate().waitUntilSettled(account);
    const refused = await ask(key, body);
    expect(refused.status).toBe(429);
    expect(refused.body.error?.message).toContain(
      `: ${answer.usage?.output_tokens} used and 0 held`,
    );
  });
});

describe('a list of limits while a node of an earlier version runs', () => {
  it('is refused, since that node would not hold it', async () => {
    const account = await operate().createAccount({ plan: 'starter' });
    const limits = [{ unit: 'tokens', window: '1m', amount: 10 }];
    const members = 'gw:{f}:members';
    const own = (await redis.cli('hvals', members)).split('\n')[0] ?? '';
    // As such a node says of itself, for as long as it is heard.
    const beat = () => {
      const at = `${Date.now()}|`;
      const told = own.replace(/^\d+\|/, at).replace(/\|run[^|]*\|/, '|older|');
      return redis.cli('hset', members, 'older-node', told.replace(/,"limits_format":\d+/, ''));
    };
    await beat();
    await expect(operate().createKey(account, { limits })).rejects.toThrow(
      /409 .*older-node: of a version that knows no lists of limits/,
    );
    await beat();
    await expect(operate().call('PATCH', `/accounts/${account}`, { limits })).rejects.toThrow(
      'older_nodes',
    );
    const { id } = await operate().createKey(account, { rpm: 5, limits: [] });
    await redis.cli('hdel', members, 'older-node');
    await operate().setKey(id, { limits });
  });
});
