import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeConnections } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { errorOf, startTestOps, type TestOps } from './start-test-ops.ts';

afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});
const cleanUp = useCleanUp();
const TOKENS = { unit: 'tokens', window: '1m', amount: 5, action: 'block' };
const MANY = { unit: 'requests', window: '30d', amount: 1_000_001 };

let redis: TestRedisServer;
let ops: TestOps;

beforeAll(async () => {
  redis = await startRedisServer();
  ops = await startTestOps(redis, cleanUp);
});
beforeEach(async () => {
  await redis.cli('flushall');
});
async function create(path: string, body: object): Promise<string> {
  return String((await ops.call('POST', path, body)).body['id']);
}
const createAccount = () => create('/accounts', { name: 'Acme', plan: 'pro' });

describe('groups of the admin API', () => {
  it.each([
    [{}, 'name: must be text of 1 to 100 characters'],
    [{ name: ' \u200b' }, 'name: must have a character that can be seen'],
    [{ name: 'x'.repeat(101) }, 'name: must be text of 1 to 100 characters'],
    [{ name: 'a\u0000b' }, 'without control characters'],
    [{ name: 'a', color: 'red' }, 'color: there is no such field'],
    [{ name: 'a', limits: {} }, 'limits: must be a list of at most 16 limits'],
    [{ name: 'a', limits: [{ ...TOKENS, unit: 'words' }] }, 'limits.0.unit: must be one of'],
    [{ name: 'a', limits: [{ ...TOKENS, window: '0s' }] }, 'limits.0.window: must be a length'],
    [{ name: 'a', limits: [{ ...TOKENS, amount: -1 }] }, 'limits.0.amount: must be a whole'],
    [{ name: 'a', limits: [{ ...TOKENS, amount: 1.5 }] }, 'limits.0.amount: must be a whole'],
    [{ name: 'a', limits: [{ ...TOKENS, amount: '5' }] }, 'limits.0.amount: must be a whole'],
    [{ name: 'a', limits: [TOKENS, { ...TOKENS, window: '60s' }] }, 'each unit and window once'],
    [{ name: 'a', limits: [MANY] }, 'limits.0.amount: must be at most 1000000 requests'],
    [{ name: 'a', user_limits: [{ unit: 'tokens' }] }, 'user_limits.0.window: must be a length'],
    [{ name: 'a', require_user: 'yes' }, 'require_user: must be true or false'],
  ])('a body such as %j is refused with what is wrong in it', async (body, message) => {
    const path = `/accounts/${await createAccount()}/groups`;
    const answer = await ops.call('POST', path, body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).message).toContain(message);
  });

  it.each([
    { ...MANY, amount: 1_000_000 },
    { ...MANY, window: 'month' },
    { ...MANY, action: 'warn' },
    { ...MANY, unit: 'tokens' },
  ])('takes %j', async (limit) => {
    const path = `/accounts/${await createAccount()}/groups`;
    expect((await ops.call('POST', path, { name: 'a', limits: [limit] })).status).toBe(201);
  });

  it('are found only under their ids, and belong to one account for good', async () => {
    const [account, other] = [await createAccount(), await createAccount()];
    const group = await create(`/accounts/${account}/groups`, { name: 'Team' });
    for (const path of ['/groups/grp_000000000000', '/groups/x', '/groups/x/limits']) {
      expect([path, (await ops.call('GET', path)).status]).toEqual([path, 404]);
    }
    expect((await ops.call('GET', '/accounts/acct_000000000000/limits')).status).toBe(404);
    expect((await ops.call('GET', '/accounts/acct_000000000000/groups')).status).toBe(404);
    const key = await create(`/accounts/${other}/keys`, {});
    const refused = await ops.call('PATCH', `/keys/${key}`, { group });
    expect(refused.status).toBe(404);
    expect(JSON.stringify(refused.body)).toContain(`${other} has no group ${group}`);
    expect((await ops.call('PATCH', `/groups/${group}`, { account: other })).status).toBe(400);
  });

  it('changed by two operators at once keep what each has changed', async () => {
    const group = await create(`/accounts/${await createAccount()}/groups`, { name: 'Team' });
    for (let round = 0; round < 20; round++) {
      const name = `Team ${round}`;
      const limits = [{ ...TOKENS, amount: round }];
      const answers = await Promise.all([
        ops.call('PATCH', `/groups/${group}`, { name }),
        ops.call('PATCH', `/groups/${group}`, { limits }),
        ops.call('PATCH', `/groups/${group}`, { user_limits: limits }),
        ops.call('PATCH', `/groups/${group}`, { require_user: round % 2 === 0 }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect((await ops.call('GET', `/groups/${group}`)).body).toMatchObject({
        ...{ name, limits, user_limits: limits, require_user: round % 2 === 0 },
      });
    }
  });
});

describe('a change that names the version that it was made from', () => {
  it.each(['account', 'group', 'key'])(
    'of the limits of an %s is refused after another change, which stays',
    async (kind) => {
      const account = await createAccount();
      const paths: Readonly<Record<string, () => Promise<string>>> = {
        account: async () => `/accounts/${account}`,
        group: async () =>
          `/groups/${await create(`/accounts/${account}/groups`, { name: 'Team' })}`,
        key: async () => `/keys/${await create(`/accounts/${account}/keys`, {})}`,
      };
      const path = String(await paths[kind]?.());
      const listOf = (amount: number) => [{ ...TOKENS, amount }];
      const seen = (await ops.call('GET', path)).body['version'];
      const first = await ops.call('PATCH', path, { limits: listOf(1), base_version: seen });
      expect(first).toMatchObject({ status: 200, body: { limits: listOf(1) } });
      const late = await ops.call('PATCH', path, { limits: listOf(2), base_version: seen });
      expect(late.status).toBe(409);
      expect(errorOf(late)).toMatchObject({ code: 'changed_meanwhile' });
      expect((await ops.call('GET', path)).body).toEqual(first.body);

      const base = { base_version: first.body['version'] };
      const next = await ops.call('PATCH', path, { limits: listOf(2), ...base });
      expect(next).toMatchObject({ status: 200, body: { limits: listOf(2) } });
      const unnamed = await ops.call('PATCH', path, { limits: listOf(3) });
      expect(unnamed).toMatchObject({ status: 200, body: { limits: listOf(3) } });
    },
  );

  it('goes through once if two are made from it at once', async () => {
    const path = `/accounts/${await createAccount()}`;
    const change = (name: string) => ops.call('PATCH', path, { name, base_version: 1 });
    const answers = await Promise.all([change('Acme Ltd'), change('Acme Inc')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it.each([0, 1.5, '1', null])('is refused if that is %j', async (version) => {
    const path = `/accounts/${await createAccount()}`;
    const answer = await ops.call('PATCH', path, { base_version: version });
    expect(answer.status).toBe(400);
    expect(errorOf(answer).message).toContain('base_version: must be a whole number');
  });
});
