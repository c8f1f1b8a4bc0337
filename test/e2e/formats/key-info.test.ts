import { describe, expect, it } from 'vitest';
import { keyInfoSchema } from '../../../src/protocol/key-info.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { FAST_UPSTREAM, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Of each worker, in a minute. */
const FREE_CALLS_MAX = 40;
const gateway = useGateway({
  config: `workers: 2\n${FAST_UPSTREAM}plans: {pro: 50}\nguards: {free_calls_per_minute: ${FREE_CALLS_MAX}}\n`,
});

async function ask(key: string, header = 'x-api-key') {
  const value = header === 'authorization' ? `Bearer ${key}` : key;
  const response = await fetch(`${gateway().url}/v1/key`, { headers: { [header]: value } });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body };
}

async function createCaller(controls: object = {}) {
  const operator = admin(gateway());
  const account = await operator.createAccount({ plan: 'pro', credits: 10 });
  return { operator, account, ...(await operator.createKey(account, controls)) };
}

const DATE = expect.stringMatching(/Z$/);

describe('a key that asks about itself', () => {
  it('gets its limits, what is left of them and what it spent, by either header', async () => {
    const controls = {
      rpm: 5,
      models: ['haiku'],
      monthly_cap: 2,
      concurrency: 3,
      expires_at: '2090-01-01T00:00:00.000Z',
    };
    const { operator, account, id, key } = await createCaller(controls);
    await askModel(gateway().url, key, messageOf('Hi'));
    await operator.waitUntilSettled(account);
    const { spent_this_month: spent } = await operator.key(id);
    const { status, body } = await ask(key);
    expect(status).toBe(200);
    expect(keyInfoSchema.check(body)).toBeUndefined();
    expect(body).toEqual({
      object: 'key',
      id,
      key: expect.stringMatching(new RegExp(`^sk-gw2-.*${key.slice(-4)}$`)),
      expires_at: controls.expires_at,
      models: ['haiku'],
      rate_window_seconds: 60,
      rate: { limit: 5, remaining: 4, reset_at: DATE },
      concurrency: 3,
      in_flight: 0,
      month: expect.stringMatching(/^20\d{4}$/),
      monthly_cap: 2,
      spent_this_month: spent,
      held: 0,
      account: {
        id: account,
        balance: 10 - spent,
        held: 0,
        rate: { limit: 50, remaining: 49, reset_at: DATE },
      },
      limits: [],
    });
    expect(spent).toBeGreaterThan(0);
    expect(JSON.stringify(body)).not.toContain(key);
    expect((await ask(key, 'authorization')).body).toEqual(body);
    const shown = await operator.call('GET', `/keys/${id}/limits`);
    expect(shown).toEqual({ ...body, key: `…${key.slice(-4)}` });
  });

  it('takes nothing by it, from no limit and no balance', async () => {
    const { operator, account, key } = await createCaller({ rpm: 1 });
    for (let i = 0; i < 5; i++) {
      expect((await ask(key)).body).toMatchObject({ rate: { remaining: 1 } });
    }
    expect((await askModel(gateway().url, key, messageOf('Hi'))).status).toBe(200);
    expect((await ask(key)).body).toMatchObject({ rate: { remaining: 0 } });
    await operator.waitUntilSettled(account);
  });

  it('sees what its running requests hold', async () => {
    const { key } = await createCaller();
    const stream = await openStream(gateway().url, key, messageOf('[[tokens 90]] [[slow 20]]'));
    const { body } = await ask(key);
    expect(body).toMatchObject({ in_flight: 1, rate: null, monthly_cap: null, models: null });
    expect(body['held']).toBeGreaterThan(0);
    expect(body['account']).toMatchObject({ held: body['held'] });
    await stream.ended;
    await waitUntil(async () => (await ask(key)).body['in_flight'] === 0, 'it is settled');
  });

  it('is refused like everywhere when it is none, was revoked, or its account is suspended', async () => {
    const { operator, account, id, key } = await createCaller();
    expect((await ask('sk-gw2-none')).status).toBe(401);
    await operator.call('PATCH', `/accounts/${account}`, { status: 'suspended' });
    expect((await ask(key)).status).toBe(403);
    await operator.revoke(id);
    const { status, body, headers } = await ask(key);
    expect(status).toBe(401);
    expect(body).toMatchObject({ error: { type: 'authentication_error' } });
    expect(headers.get('x-should-retry')).toBe('false');
    // Operators still see it.
    const shown = await operator.call('GET', `/keys/${id}/limits`);
    expect(shown).toMatchObject({ id, account: { id: account, balance: 10 } });
  });

  it('is stopped when it asks all the time, like for everything that costs nothing', async () => {
    const { key } = await createCaller();
    const statuses: number[] = [];
    let refused: Awaited<ReturnType<typeof ask>> | undefined;
    while (refused === undefined && statuses.length <= 2 * FREE_CALLS_MAX) {
      const asked = await ask(key);
      statuses.push(asked.status);
      if (asked.status === 429) refused = asked;
    }
    expect(refused?.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    // Each of the two workers counts for itself.
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(
      FREE_CALLS_MAX,
    );
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });
});
