import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { splitWords } from '../../src/books/ingest/names/split-words.ts';
import { bucketOfAccount } from '../../src/keys/account-id.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { closeConnections } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { errorOf, startTestOps, type TestOps } from './start-test-ops.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});
const cleanUp = useCleanUp();

let redis: TestRedisServer;
let ops: TestOps;

beforeAll(async () => {
  redis = await startRedisServer();
  ops = await startTestOps(redis, cleanUp);
});
beforeEach(async () => {
  await redis.cli('flushall');
  ops.log.lines.length = 0;
});
async function createAccount(): Promise<string> {
  const { body } = await ops.call('POST', '/accounts', { name: 'Acme', plan: 'pro' });
  return String(body['id']);
}

async function createKey(account: string, controls: object = {}) {
  const { body } = await ops.call('POST', `/accounts/${account}/keys`, controls);
  return { id: String(body['id']), key: String(body['key']) };
}

describe('accounts of the admin API', () => {
  it('are created, shown, changed and listed', async () => {
    const created = await ops.call('POST', '/accounts', { name: 'Acme', plan: 'pro' });
    expect(created.status).toBe(201);
    expect(created.headers.get('cache-control')).toBe('no-store');
    expect(created.body).toEqual({
      id: expect.stringMatching(/^acct_[0-9A-Za-z]{12}$/),
      name: 'Acme',
      plan: 'pro',
      status: 'active',
      limits: [],
      balance: 0,
      low_balance: null,
      ...{ held: 0, version: 1 },
      created_at: TIME,
    });
    const path = `/accounts/${created.body['id']}`;
    expect(await ops.call('GET', path)).toMatchObject({ status: 200, body: created.body });
    const patch = { name: 'Other', plan: 'team', status: 'suspended', low_balance: 2.5 };
    const changed = { ...created.body, ...patch, version: 2 };
    expect((await ops.call('PATCH', path, patch)).body).toEqual(changed);
    expect((await ops.call('GET', '/accounts')).body).toEqual({ data: [changed], next: null });
    const removed = await ops.call('PATCH', path, { low_balance: null });
    expect(removed.body).toEqual({ ...changed, low_balance: null, version: 3 });
  });

  it('are listed page by page', async () => {
    const ids = new Set<string>();
    for (let i = 0; i < 5; i++) ids.add(await createAccount());
    const listed: unknown[] = [];
    let after: unknown = null;
    do {
      const query = after === null ? '' : `&after=${after}`;
      const { body } = await ops.call('GET', `/accounts?limit=2${query}`);
      const data = body['data'] as { id: string }[];
      expect(data.length).toBeLessThanOrEqual(2);
      listed.push(...data.map(({ id }) => id));
      after = body['next'];
    } while (after !== null);
    expect(listed).toEqual([...ids].sort());
  });

  it('are found by beginnings of words of name or id in either case, page by page', async () => {
    const create = async (name: string) => {
      const account = String(
        (await ops.call('POST', '/accounts', { name, plan: 'pro' })).body['id'],
      );
      const words = [...splitWords(name), account.toLowerCase()];
      await ops.books.db
        .insertInto('words')
        .values(words.map((word) => ({ word, account })))
        .execute();
      return account;
    };
    const ids = [await create('North Bakery'), await create('South BAKERY')].sort();
    const other = await create('Acme');
    const find = async (query: string) => {
      const { body } = await ops.call('GET', `/accounts?${query}`);
      return { ids: (body['data'] as { id: string }[]).map(({ id }) => id), next: body['next'] };
    };
    expect(await find('search=bakery')).toEqual({ ids, next: null });
    expect(await find('search=bakery&limit=1')).toEqual({ ids: ids.slice(0, 1), next: ids[0] });
    const last = await find(`search=bakery&limit=1&after=${ids[0]}`);
    expect(last).toEqual({ ids: ids.slice(1), next: null });
    expect((await find(`search=${other.slice(0, -1).toUpperCase()}`)).ids).toEqual([other]);
    // The books may know what Redis has lost.
    await redis.cli('del', keysOfBucket(bucketOfAccount(other) ?? 0).account(other));
    expect(await find('search=acme')).toEqual({ ids: [], next: null });
    expect(await find('search=nobody')).toEqual({ ids: [], next: null });
    expect((await ops.call('GET', '/accounts?search=')).status).toBe(400);
  });
});

describe('credits of the admin API', () => {
  it('are added once for each payment id, with all of their decimals', async () => {
    const id = await createAccount();
    const payment = { amount: 12.345678, id: 'invoice-1', note: 'paid' };
    const shown = { id: 'invoice-1', account: id, amount: 12.345678, balance: 12.345678 };
    const add = () => ops.call('POST', `/accounts/${id}/credits`, payment);
    expect((await add()).body).toEqual({ ...shown, repeated: false, replicated: 0 });
    expect((await add()).body).toEqual({ ...shown, repeated: true, replicated: 0 });
    expect((await ops.call('GET', `/accounts/${id}`)).body).toMatchObject({ balance: 12.345678 });
  });

  it('that a payment has entered with another amount are a conflict', async () => {
    const id = await createAccount();
    await ops.call('POST', `/accounts/${id}/credits`, { amount: 1, id: 'p' });
    const answer = await ops.call('POST', `/accounts/${id}/credits`, { amount: 2, id: 'p' });
    expect(answer.status).toBe(409);
    expect(errorOf(answer)).toEqual({
      code: 'payment_conflict',
      message: 'the payment p has been entered before, with 1 credits',
    });
  });

  it('are taken by negative amounts, but not those that running requests hold', async () => {
    const id = await createAccount();
    await ops.call('POST', `/accounts/${id}/credits`, { amount: 10, id: 'p' });
    const [record = ''] = (await redis.cli('keys', 'gw:*:account:*')).split('\n');
    await redis.cli('hset', record, 'held', '4000000');
    const refused = await ops.call('POST', `/accounts/${id}/credits`, {
      amount: -6.000001,
      id: 'q',
    });
    expect(refused.status).toBe(409);
    expect(errorOf(refused)).toEqual({
      code: 'credit_reserved',
      message:
        '6.000001 credits cannot be taken: the balance is 10 and running requests hold 4 of it, so at most 6 can be taken',
    });
    const taken = await ops.call('POST', `/accounts/${id}/credits`, { amount: -6, id: 'q' });
    expect(taken.body).toMatchObject({ balance: 4 });
    expect((await ops.call('GET', `/accounts/${id}`)).body).toMatchObject({ balance: 4, held: 4 });
    const none = await ops.call('POST', `/accounts/${id}/credits`, { amount: -1, id: 'r' });
    expect(errorOf(none).message).toMatch(/hold 4 of it, so none can be taken$/);
  });

  it('do not become more than can be counted', async () => {
    const id = await createAccount();
    const add = (payment: string) =>
      ops.call('POST', `/accounts/${id}/credits`, { amount: 4_000_000_000, id: payment });
    expect((await add('1')).status).toBe(200);
    expect((await add('2')).status).toBe(200);
    const answer = await add('3');
    expect([answer.status, errorOf(answer).code]).toEqual([409, 'balance_too_large']);
  });
});

describe('keys of the admin API', () => {
  const CONTROLS = {
    name: 'build server',
    rpm: 60,
    models: ['opus'],
    monthly_cap: 0.5,
    concurrency: 3,
    expires_at: '2040-01-01T02:00:00+02:00',
  };
  const SHOWN = { ...CONTROLS, expires_at: '2040-01-01T00:00:00.000Z' };

  it('are created with their text, which is not shown again', async () => {
    const account = await createAccount();
    const { status, body } = await ops.call('POST', `/accounts/${account}/keys`, CONTROLS);
    expect(status).toBe(201);
    const { key, ...shown } = body;
    expect(shown).toEqual({
      id: String(key).slice(7, 18),
      account,
      last4: String(key).slice(-4),
      status: 'active',
      ...SHOWN,
      ...{ group: null, limits: [], user_limits: [], require_user: false },
      spent_this_month: 0,
      ...{ held: 0, version: 1 },
      created_at: TIME,
      rotated_at: null,
    });
    expect(await ops.directory.check(String(key))).toBe('known');
    expect((await ops.call('GET', `/keys/${shown['id']}`)).body).toEqual(shown);
    expect((await ops.call('GET', `/accounts/${account}/keys`)).body).toEqual({ data: [shown] });
  });

  it('are changed field by field; null removes a control', async () => {
    const { id } = await createKey(await createAccount(), CONTROLS);
    const before = (await ops.call('GET', `/keys/${id}`)).body;
    const patch = { rpm: null, models: null, monthly_cap: 7 };
    const { status, body } = await ops.call('PATCH', `/keys/${id}`, patch);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, ...patch, version: 2 });
    const none = { name: null, monthly_cap: null, concurrency: null, expires_at: null };
    expect((await ops.call('PATCH', `/keys/${id}`, none)).body).toEqual({
      ...body,
      ...none,
      ...{ name: '', version: 3 },
    });
  });

  it('are rotated with an overlap, for which the default is a day', async () => {
    const { id, key } = await createKey(await createAccount());
    const rotated = await ops.call('POST', `/keys/${id}/rotate`);
    expect(rotated).toMatchObject({ status: 200, body: { id, rotated_at: TIME, replicated: 0 } });
    const second = String(rotated.body['key']);
    expect(await ops.directory.check(key)).toBe('known');
    await ops.call('POST', `/keys/${id}/rotate`, { overlap_seconds: 0 });
    expect(await ops.directory.check(key)).toBe('unknown');
    expect(await ops.directory.check(second)).toBe('unknown');
    const [record = ''] = (await redis.cli('keys', 'gw:*:key:*')).split('\n');
    const month = 30 * 86_400;
    const overlap = await ops.call('POST', `/keys/${id}/rotate`, { overlap_seconds: month });
    expect(overlap.status).toBe(200);
    const [seconds] = (await redis.cli('time')).split('\n');
    const leftS = Number(await redis.cli('hget', record, 'old_until')) / 1_000 - Number(seconds);
    expect(Math.abs(leftS - month)).toBeLessThan(86_400);
  });

  it('are revoked for good', async () => {
    const { id, key } = await createKey(await createAccount());
    const revoked = await ops.call('POST', `/keys/${id}/revoke`, {});
    expect(revoked).toMatchObject({ status: 200, body: { status: 'revoked', replicated: 0 } });
    expect(await ops.directory.check(key)).toBe('revoked');
    expect((await ops.call('POST', `/keys/${id}/revoke`)).status).toBe(200);
    for (const answer of [
      await ops.call('PATCH', `/keys/${id}`, { rpm: 1 }),
      await ops.call('POST', `/keys/${id}/rotate`, {}),
    ]) {
      expect([answer.status, errorOf(answer).code]).toEqual([409, 'key_revoked']);
    }
  });

  it('may name the models that are configured at the time', async () => {
    const account = await createAccount();
    const create = () => ops.call('POST', `/accounts/${account}/keys`, { models: ['new-model'] });
    const refused = await create();
    expect(refused.status).toBe(400);
    expect(errorOf(refused).message).toBe('models.0: new-model is no model of this gateway');
    ops.models.add('new-model');
    expect((await create()).status).toBe(201);
    ops.models.delete('new-model');
  });
});

describe('every change', () => {
  it('is in the log, with what stood there before and without a secret', async () => {
    const account = await createAccount();
    await ops.call('PATCH', `/accounts/${account}`, { plan: 'team' });
    const payment = { amount: 3, id: 'p', note: 'paid' };
    await ops.call('POST', `/accounts/${account}/credits`, payment);
    await ops.call('POST', `/accounts/${account}/credits`, payment);
    const { id, key } = await createKey(account);
    await ops.call('PATCH', `/keys/${id}`, { rpm: 5 });
    const { body } = await ops.call('POST', `/keys/${id}/rotate`);
    await ops.call('POST', `/keys/${id}/revoke`);
    await ops.call('GET', `/keys/${id}`);
    const fields = ops.log.lines.map((line) => line.fields);
    expect(fields).toMatchObject([
      {
        what: 'account.create',
        who: {
          via: 'api',
          token: expect.stringMatching(/^[0-9a-f]{8}$/),
          address: '127.0.0.1',
          operator: null,
        },
        account,
        after: { name: 'Acme' },
      },
      { what: 'account.set', before: { plan: 'pro' }, after: { plan: 'team' } },
      { what: 'credits.add', account, after: { amount: 3, note: 'paid', balance: 3 } },
      { what: 'key.create', key: id, account, after: { rpm: null } },
      { what: 'key.set', before: { rpm: null }, after: { rpm: 5 } },
      { what: 'key.rotate', before: { rotated_at: null }, after: { rotated_at: TIME } },
      { what: 'key.revoke', before: { status: 'active' }, after: { status: 'revoked' } },
    ]);
    const text = JSON.stringify(fields);
    for (const secret of [key, String(body['key']), ops.token.reveal()]) {
      expect(text).not.toContain(secret.slice(18, 50));
    }
  });
});
