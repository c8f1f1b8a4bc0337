import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketOfAccount } from '../../../src/keys/account-id.ts';
import { creditsOf } from '../../../src/lib/units/micros.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { splitLedgerEntry } from '../../support/ledger/split-ledger-entry.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../../support/servers/redis-connection.ts';
import { type Nodes, startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

const cleanUp = useCleanUp();
let nodes: Nodes['nodes'];
let redis: Nodes['redis'];

beforeAll(async () => {
  ({ nodes, redis } = await startNodes({ cleanUp }));
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

interface Charge {
  readonly kind: string;
  readonly request: string;
  readonly key: string;
  readonly charged: number;
}

/** The charges of one account in the store's ledger. */
async function readLedger(account: string): Promise<Charge[]> {
  const connection = openConnection(standalone(tcp(redis.port)));
  await waitForRedis(connection);
  const { ledger } = keysOfBucket(bucketOfAccount(account) ?? -1);
  const entries = (await connection.send('xrange', [ledger, '-', '+'])) as [string, string[]][];
  return entries
    .map(([, fields]) => {
      const values = splitLedgerEntry(fields);
      const field = (name: string) => values.get(name) ?? '';
      return {
        kind: field('kind'),
        request: field('request'),
        account: field('account'),
        key: field('key'),
        charged: Number(field('charged')),
      };
    })
    .filter((entry) => entry.account === account);
}

function sum(charges: readonly Charge[]): number {
  return charges.reduce((total, { charged }) => total + charged, 0);
}

describe('a monthly cap', () => {
  it('holds under 200 concurrent streams on two nodes, and the ledger sums to what was spent', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount({ credits: 1_000 });
    // One stream of 100 tokens costs 0.00051 credits: about sixty streams fit.
    const cap = 0.03;
    const { id, key } = await operator.createKey(account, { monthly_cap: cap });
    const streams = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        openStream(nodes[index % 2 === 0 ? 0 : 1].url, key, messageOf('[[tokens 100]] [[slow 2]]')),
      ),
    );
    await Promise.all(streams.map(({ ended }) => ended));
    await operator.waitUntilSettled(account);

    const spent = (await operator.key(id)).spent_this_month;
    const statuses = streams.map(({ status }) => status);
    const admitted = statuses.filter((status) => status === 200).length;
    // 503 appears if the machine is so busy that the store answers too late. It is free, like 402.
    expect(statuses.filter((status) => ![200, 402, 503].includes(status))).toEqual([]);
    expect(statuses).toContain(402);
    expect(admitted).toBeGreaterThan(40);
    expect(spent).toBeLessThanOrEqual(cap);
    const charges = (await readLedger(account)).filter((entry) => entry.key === id);
    // A stream that Redis admitted too late has an entry as well, which charges nothing.
    const charged = charges.filter((entry) => entry.charged > 0);
    expect(new Set(charged.map(({ request }) => request)).size).toBe(admitted);
    expect(creditsOf(sum(charges))).toBe(spent);
    expect((await operator.account(account)).balance).toBe(
      creditsOf(-sum(await readLedger(account))),
    );
  });
});

describe('a prepaid balance', () => {
  it('is never spent beyond, however many ask at once', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount({ credits: 0.005 });
    const { key } = await operator.createKey(account);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        askModel(nodes[index % 2 === 0 ? 0 : 1].url, key, messageOf('[[tokens 100]]')),
      ),
    );
    await operator.waitUntilSettled(account);
    const { balance } = await operator.account(account);
    const refused = answers.filter(({ status }) => status === 402);
    expect(answers.filter(({ status }) => ![200, 402, 503].includes(status))).toEqual([]);
    expect(balance).toBeGreaterThanOrEqual(0);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.body.error).toMatchObject({
      type: 'billing_error',
      message: expect.stringContaining('credit balance is too low'),
    });
    const charged = answers
      .filter(({ status }) => status === 200)
      .map(({ headers }) => Number(headers.get('x-tollgate-credits-charged')));
    // Nine of them fit. As above, a busy machine may leave some without an answer.
    expect(charged.length).toBeGreaterThan(5);
    const micros = charged.reduce((total, credits) => total + Math.round(credits * 1e6), 0);
    expect(creditsOf(5_000 - micros)).toBe(balance);
  });

  it('serves again at once after a top-up, which counts once however often it is sent', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount({ credits: 0 });
    const { key } = await operator.createKey(account);
    expect((await askModel(nodes[1].url, key, messageOf('Hi'))).status).toBe(402);
    const payment = { amount: 2.5, id: 'invoice-17', note: 'paid' };
    for (let i = 0; i < 3; i++)
      await operator.call('POST', `/accounts/${account}/credits`, payment);
    expect((await operator.account(account)).balance).toBe(2.5);
    expect((await askModel(nodes[1].url, key, messageOf('Hi'))).status).toBe(200);
  });

  it('lets a chat client without a maximum have what it can pay, and says how much', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount({ credits: 0.003 });
    const { key } = await operator.createKey(account);
    const response = await fetch(`${nodes[0].url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'haiku',
        messages: [{ role: 'user', content: '[[tokens 5000]]' }],
      }),
    });
    const answer = (await response.json()) as {
      usage: { completion_tokens: number };
      choices: { finish_reason: string }[];
    };
    const tokensMax = Number(response.headers.get('x-tollgate-max-tokens'));
    expect(tokensMax).toBeGreaterThan(500);
    expect(answer.usage.completion_tokens).toBe(tokensMax);
    expect(answer.choices[0]?.finish_reason).toBe('length');
    await operator.waitUntilSettled(account);
    const { balance } = await operator.account(account);
    expect(balance).toBeGreaterThanOrEqual(0);
    expect(balance).toBeLessThan(0.001);
  });
});

describe('the controls of a key', () => {
  it('restrict it to its models, by alias or by id, and show it no others', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount();
    const { key } = await operator.createKey(account, { models: ['haiku', 'llm-sonnet-4.6'] });
    const ask = (model: string) => askModel(nodes[1].url, key, messageOf('Hi', { model }));
    const statuses = await Promise.all(
      ['haiku', 'llm-haiku-4.5', 'sonnet', 'opus', 'llm-opus-4.7'].map(ask),
    );
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 403, 403]);
    expect(statuses[3]?.body.error).toMatchObject({ type: 'permission_error' });
    expect(statuses[3]?.headers.get('x-should-retry')).toBe('false');
    const list = await fetch(`${nodes[0].url}/v1/models`, { headers: { 'x-api-key': key } });
    const { data } = (await list.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id).toSorted()).toEqual([
      'haiku',
      'llm-haiku-4.5',
      'llm-sonnet-4.6',
      'sonnet',
    ]);
  });

  it('take effect with the next request', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount();
    const { id, key } = await operator.createKey(account);
    const ask = () => askModel(nodes[1].url, key, messageOf('Hi'));
    expect((await ask()).status).toBe(200);
    await operator.setKey(id, { monthly_cap: 0.000001 });
    expect((await ask()).body.error?.message).toContain('monthly credit cap');
    await operator.setKey(id, { monthly_cap: null, models: ['opus'] });
    expect((await ask()).status).toBe(403);
    // A key may not end in the past, be the machine ever so slow.
    const expiresMs = Date.now() + 5_000;
    await operator.setKey(id, { models: null, expires_at: new Date(expiresMs).toISOString() });
    await waitUntil(() => Date.now() > expiresMs, 'the key has expired');
    expect((await ask()).body.error?.message).toBe('This API key has expired.');
    await operator.setKey(id, { expires_at: null });
    expect((await ask()).status).toBe(200);
    await operator.call('PATCH', `/accounts/${account}`, { status: 'suspended' });
    expect((await ask()).status).toBe(403);
    await operator.call('PATCH', `/accounts/${account}`, { status: 'active' });
    expect((await ask()).status).toBe(200);
  });
});
