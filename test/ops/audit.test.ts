import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AUDIT_ENTRIES_MAX } from '../../src/accounts/audit/audit-log.ts';
import { startLossyProxy } from '../accounts/start-lossy-proxy.ts';
import { closeConnections } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';
import { errorOf, startTestOps, type TestOps } from './start-test-ops.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const AUDIT_KEY = 'gw:{a}:audit';
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
});
interface Entry {
  readonly id: string;
  readonly at: string;
  readonly what: string;
  readonly [field: string]: unknown;
}

async function readAudit(query = ''): Promise<{ data: Entry[]; next: string | null }> {
  const { status, body } = await ops.call('GET', `/audit${query}`);
  expect(status).toBe(200);
  return body as never;
}

async function createAccount(name = 'Acme'): Promise<string> {
  const { body } = await ops.call('POST', '/accounts', { name, plan: 'pro' });
  return String(body['id']);
}

async function createKey(account: string) {
  const { body } = await ops.call('POST', `/accounts/${account}/keys`, { rpm: 5 });
  return { id: String(body['id']), key: String(body['key']) };
}

describe('the audit log', () => {
  it('has every change, the newest first, with who, when, what, before and after', async () => {
    const account = await createAccount();
    await ops.call('PATCH', `/accounts/${account}`, { plan: 'team' });
    await ops.call('POST', `/accounts/${account}/credits`, { amount: 3, id: 'p', note: 'paid' });
    const { id: key } = await createKey(account);
    await ops.call('PATCH', `/keys/${key}`, { rpm: 7 });
    await ops.call('POST', `/keys/${key}/rotate`);
    await ops.call('POST', `/keys/${key}/revoke`);
    const { data, next } = await readAudit();
    expect(next).toBeNull();
    const who = {
      via: 'api',
      token: expect.stringMatching(/^[0-9a-f]{8}$/),
      address: '127.0.0.1',
      operator: null,
    };
    const common = { at: TIME, who, node: 'test-node', outcome: 'done', account };
    expect(data.toReversed()).toMatchObject([
      { ...common, what: 'account.create', key: null, before: null, after: { name: 'Acme' } },
      { ...common, what: 'account.set', before: { plan: 'pro' }, after: { plan: 'team' } },
      { ...common, what: 'credits.add', before: { balance: 0 }, after: { amount: 3, balance: 3 } },
      { ...common, what: 'key.create', key, before: null, after: { rpm: 5 } },
      { ...common, what: 'key.set', key, before: { rpm: 5 }, after: { rpm: 7 } },
      { ...common, what: 'key.rotate', key, before: { rotated_at: null } },
      { ...common, what: 'key.revoke', key, after: { status: 'revoked' } },
    ]);
  });

  it('names a suspension and its end as such, and tells which fields changed', async () => {
    const account = await createAccount();
    await ops.call('PATCH', `/accounts/${account}`, { status: 'suspended' });
    await ops.call('PATCH', `/accounts/${account}`, { status: 'active', plan: 'team' });
    const { id: key } = await createKey(account);
    await ops.call('PATCH', `/keys/${key}`, { rpm: null, models: ['opus'] });
    const [set, created, resumed, suspended] = (await readAudit()).data;
    expect([set, resumed, suspended]).toMatchObject([
      {
        what: 'key.set',
        changes: [
          { field: 'rpm', before: 5, after: null },
          { field: 'models', before: null, after: ['opus'] },
        ],
      },
      {
        what: 'account.resume',
        changes: [
          { field: 'plan', before: 'pro', after: 'team' },
          { field: 'status', before: 'suspended', after: 'active' },
        ],
      },
      {
        what: 'account.suspend',
        changes: [{ field: 'status', before: 'active', after: 'suspended' }],
      },
    ]);
    expect(created?.['changes']).toContainEqual({ field: 'rpm', before: null, after: 5 });
  });

  it('has no secret, and nothing of what was only read, repeated or refused', async () => {
    const account = await createAccount();
    const payment = { amount: 3, id: 'p' };
    await ops.call('POST', `/accounts/${account}/credits`, payment);
    await ops.call('POST', `/accounts/${account}/credits`, payment);
    const { id, key } = await createKey(account);
    const { body } = await ops.call('POST', `/keys/${id}/rotate`);
    await ops.call('PATCH', `/keys/${id}`, { rpm: -1 });
    await ops.call('GET', `/keys/${id}`);
    const { data } = await readAudit();
    expect(data.map(({ what }) => what)).toEqual([
      'key.rotate',
      'key.create',
      'credits.add',
      'account.create',
    ]);
    const stored = await redis.cli('xrange', AUDIT_KEY, '-', '+');
    for (const secret of [key, String(body['key']), ops.token.reveal()]) {
      expect(stored).not.toContain(secret.slice(18, 50));
    }
  });

  it('is found by account, by key, by time, and page by page', async () => {
    const [one, other] = [await createAccount(), await createAccount()];
    const { id: key } = await createKey(one);
    await createKey(other);
    await ops.call('PATCH', `/keys/${key}`, { rpm: 1 });
    const whats = async (query: string) => (await readAudit(query)).data.map(({ what }) => what);
    expect(await whats(`?account=${one}`)).toEqual(['key.set', 'key.create', 'account.create']);
    expect(await whats(`?key=${key}`)).toEqual(['key.set', 'key.create']);
    expect(await whats(`?key=${key}&account=${other}`)).toEqual([]);

    const all = (await readAudit()).data;
    const paged: Entry[] = [];
    for (let before = ''; ; ) {
      const page = await readAudit(`?limit=2${before}`);
      expect(page.data.length).toBeLessThanOrEqual(2);
      paged.push(...page.data);
      if (page.next === null) break;
      before = `&before=${page.next}`;
    }
    expect(paged).toEqual(all);

    // The times differ, whatever the clock did while the entries were made.
    await redis.cli('del', AUDIT_KEY);
    const who = { via: 'api', token: null, address: null, operator: null };
    const entry = JSON.stringify({
      ...{ what: 'account.set', who, node: 'n', account: one, key: null, outcome: 'done' },
      ...{ before: null, after: null },
    });
    for (const ms of [1_000, 2_000, 3_000]) {
      await redis.cli(
        'xadd',
        AUDIT_KEY,
        `${ms}-5`,
        'id',
        `x${ms}`,
        'at',
        String(ms),
        'entry',
        entry,
      );
    }
    const at = async (query: string) => (await readAudit(query)).data.map((found) => found.at);
    const time = (ms: number) => new Date(ms).toISOString();
    expect(await at(`?from=${time(2_000)}`)).toEqual([time(3_000), time(2_000)]);
    expect(await at(`?to=${time(2_000)}`)).toEqual([time(1_000)]);
    expect(await at(`?from=${time(2_000)}&to=${time(3_000)}`)).toEqual([time(2_000)]);
  });

  it('refuses a query that means nothing', async () => {
    for (const [query, code] of [
      ['?limit=0', 'invalid_request'],
      ['?limit=1001', 'invalid_request'],
      ['?from=yesterday', 'invalid_request'],
      ['?since=2026-01-01T00:00:00Z', 'invalid_request'],
      ['?before=x', 'invalid_cursor'],
    ] as const) {
      const answer = await ops.call('GET', `/audit${query}`);
      expect([answer.status, errorOf(answer).code], query).toEqual([400, code]);
    }
  });

  it('keeps a named number of entries, and lets the oldest go', async () => {
    const fill = `for i = 1, ${AUDIT_ENTRIES_MAX} do redis.call('XADD', KEYS[1], '1-' .. i, 'id', 'x') end`;
    await redis.cli('eval', fill, '1', AUDIT_KEY);
    await createAccount();
    expect(Number(await redis.cli('xlen', AUDIT_KEY))).toBe(AUDIT_ENTRIES_MAX);
    expect((await redis.cli('xrange', AUDIT_KEY, '-', '+', 'COUNT', '1')).split('\n')[0]).toBe(
      '1-2',
    );
  });

  it('has an entry once, however often a failover makes it be written again', async () => {
    const account = await createAccount();
    await ops.call('PATCH', `/accounts/${account}`, { plan: 'team' });
    // Entries of other tests come back too.
    const read = async () => (await readAudit(`?account=${account}`)).data;
    const data = await read();
    expect(data).toHaveLength(2);
    await ops.audit.replayRecentEntries();
    expect(await read()).toEqual(data);
    // This is the state of a new master that missed the last write.
    await redis.cli('xdel', AUDIT_KEY, data[0]?.id ?? '');
    await ops.audit.replayRecentEntries();
    expect(await read()).toMatchObject(data.map(({ id: _, ...entry }) => entry));
  });
});

describe('the audit log while Redis is in trouble', () => {
  it('gets its entries when it can be written again, in order', async () => {
    const account = await createAccount();
    // The key of the log is not a stream: accounts can be changed, but the log cannot be written.
    await redis.cli('del', AUDIT_KEY);
    await redis.cli('set', AUDIT_KEY, 'in the way');
    for (const plan of ['team', 'starter']) {
      expect((await ops.call('PATCH', `/accounts/${account}`, { plan })).status).toBe(200);
    }
    await redis.cli('del', AUDIT_KEY);
    await waitUntil(async () => (await readAudit()).data.length === 2, 'the entries are there');
    expect((await readAudit()).data).toMatchObject([
      { after: { plan: 'starter' } },
      { after: { plan: 'team' } },
    ]);
  });

  it('has a payment whose reply from Redis was lost', async () => {
    const proxy = await startLossyProxy(redis.port);
    cleanUp(proxy.stop);
    const behind = await startTestOps({ ...redis, port: proxy.port }, cleanUp);
    const account = await createAccount();
    const pay = (id: string) =>
      behind.call('POST', `/accounts/${account}/credits`, { amount: 3, id });
    // From now on Redis has the script, so that the next reply is that to the payment.
    await pay('first');
    proxy.loseReplyAfter(0);
    const { status, body } = await pay('second');
    expect(proxy.wasLost()).toBe(true);
    expect([status, body]).toMatchObject([200, { balance: 6, repeated: false }]);
    const { data } = await readAudit(`?account=${account}`);
    expect(data[0]).toMatchObject({
      ...{ what: 'credits.add', outcome: 'done' },
      ...{ before: { balance: 3 }, after: { id: 'second', amount: 3, balance: 6 } },
    });
  });
});
