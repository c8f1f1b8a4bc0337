import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { closeConnections } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';
import { errorOf, startTestOps, type TestOps } from './start-test-ops.ts';

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

it('has nothing of a change that failed before Redis was asked for it', async () => {
  const account = await createAccount('first');
  redis.signal('SIGSTOP');
  onTestFinished(() => redis.signal('SIGCONT'));
  const refused = await ops.call('PATCH', `/accounts/${account}`, { plan: 'team' });
  expect(refused.status).toBe(503);
  expect(errorOf(refused).message).toBe('Redis does not answer at the moment');
  redis.signal('SIGCONT');
  await waitUntil(async () => {
    const { status } = await ops.call('PATCH', `/accounts/${account}`, { name: 'last' });
    return status === 200;
  }, 'Redis answers again');
  const isEntered = ({ after }: Entry) => (after as { name?: string } | null)?.name === 'last';
  await waitUntil(async () => {
    const { status, body } = await ops.call('GET', '/audit');
    return status === 200 && (body as { data: Entry[] })['data'].some(isEntered);
  }, 'the last change is entered');
  const { data } = await readAudit();
  expect(data.map(({ what, outcome }) => [what, outcome])).toEqual([
    ['account.set', 'done'],
    ['account.create', 'done'],
  ]);
});

it('says so when nobody knows whether a change took place', async () => {
  const account = await createAccount();
  const made = await ops.call('POST', `/accounts/${account}/groups`, { name: 'Team' });
  const group = String(made.body['id']);
  // On one connection, the write of one would keep the others from reading.
  const second = await startTestOps(redis, onTestFinished);
  const third = await startTestOps(redis, onTestFinished);
  await redis.cli('client', 'pause', '60000', 'write');
  const ofGroup = second.call('PATCH', `/groups/${group}`, { name: 'Other' });
  const payment = { amount: 3, id: 'p', note: 'paid' };
  const paid = third.call('POST', `/accounts/${account}/credits`, payment);
  const refused = await ops.call('PATCH', `/accounts/${account}`, { plan: 'team' });
  expect([(await ofGroup).status, (await paid).status]).toEqual([503, 503]);
  expect([refused.status, errorOf(refused).code]).toEqual([503, 'store_unavailable']);
  await redis.cli('client', 'unpause');
  await waitUntil(async () => {
    // Redis counts as out for a moment longer.
    const { status, body } = await ops.call('GET', '/audit');
    const { data = [] } = body as { data?: Entry[] };
    const whats = new Set(data.map(({ what }) => what));
    const all = ['account.set', 'group.set', 'credits.add'];
    return status === 200 && all.every((what) => whats.has(what));
  }, 'the entries are there');
  const { data } = await readAudit();
  const find = (name: string) => data.find(({ what }) => what === name);
  const outcome = 'unknown';
  expect([find('group.set'), find('account.set'), find('credits.add')]).toMatchObject([
    { outcome, account: null, key: null, after: { id: group } },
    { outcome, account, after: null },
    { outcome, account, before: null, after: payment },
  ]);
});
