import Anthropic from 'anthropic-sdk-1';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askAmongMany, HAIKU, messageOf } from '../../support/clients/ask-model.ts';
import { expectAdmitted } from '../../support/clients/expect-admitted.ts';
import { type Nodes, startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

const SETTINGS = `plans: {team: 1000000}
limits:
  end_users: {from: ["header:x-end-user", metadata.user_id, user], secret: pepper-of-end-users, per_account: 3}
`;
const REQUESTS = 400;
const cleanUp = useCleanUp();
let nodes: Nodes['nodes'];
let redis: Nodes['redis'];

beforeAll(async () => {
  ({ nodes, redis } = await startNodes({ settings: SETTINGS, cleanUp }));
});
afterAll(stopRedisServers);

const operate = () => admin(nodes[0]);
const askAs = (key: string, user: string | undefined, node: 0 | 1 = 0) =>
  askAmongMany(
    nodes[node].url,
    key,
    messageOf('Hi', { max_tokens: 4, ...(user !== undefined && { metadata: { user_id: user } }) }),
  );
const ofUser = (amount: number, unit = 'requests') => ({
  user_limits: [{ unit, window: '1d', amount }],
});

describe('a limit of each end user', () => {
  it('is of each alone, and never passed by many requests on two nodes', async () => {
    const account = await operate().createAccount();
    const { key } = await operate().createKey(account, ofUser(20));
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, (_, index) =>
        askAs(key, index % 2 === 0 ? 'ada@example.com' : 'bob@example.com', index % 4 < 2 ? 0 : 1),
      ),
    );
    for (const parity of [0, 1]) {
      expectAdmitted(
        answers.filter((_, index) => index % 2 === parity),
        20,
      );
    }
  });

  it('does not bound requests without one, unless the key requires them', async () => {
    const account = await operate().createAccount();
    const { id, key } = await operate().createKey(account, ofUser(0));
    expect((await askAs(key, undefined)).status).toBe(200);
    const refused = await askAs(key, 'carl');
    expect(refused.status).toBe(400);
    expect(refused.body.error?.message).toContain('a limit of this end user');
    await operate().setKey(id, { require_user: true });
    const { status, body } = await askAs(key, undefined, 1);
    expect(status).toBe(400);
    expect(body.error?.message).toBe(
      'This API key needs each request to name its end user, and this one does not.',
    );
  });

  it('finds them where each client library says who they are, and in a header', async () => {
    const account = await operate().createAccount();
    const { key: apiKey } = await operate().createKey(account, ofUser(1));
    const native = new Anthropic({ apiKey, baseURL: nodes[0].url, maxRetries: 0 });
    const chat = new OpenAI({ apiKey, baseURL: `${nodes[0].url}/v1`, maxRetries: 0 });
    const message = { model: HAIKU, max_tokens: 4, messages: [{ role: 'user', content: 'Hi' }] };
    const asNative = () =>
      native.messages.create({ ...message, metadata: { user_id: 'dora' } } as never);
    const asChat = () => chat.chat.completions.create({ ...message, user: 'dora' } as never);
    await asNative();
    await expect(asChat()).rejects.toMatchObject({ status: 429 });
    await expect(asNative()).rejects.toMatchObject({ status: 429 });
    await chat.chat.completions.create({ ...message, user: 'dora' } as never, {
      headers: { 'x-end-user': 'somebody else' },
    });
  });

  it('keeps nothing of their names', async () => {
    const account = await operate().createAccount();
    const { key } = await operate().createKey(account, ofUser(5));
    await askAs(key, 'private@example.com');
    await operate().waitUntilSettled(account);
    const found = (await redis.cli('--scan', '--pattern', '*')).split('\n').sort();
    expect(found.some((name) => name.includes(':user:'))).toBe(true);
    expect(found.join()).not.toContain('private');
    await operate().waitForBooks();
    const { data } = await operate().call<{ data: { end_user: string; requests: number }[] }>(
      'GET',
      `/usage?account=${account}&by=end_user`,
    );
    expect(data).toHaveLength(1);
    expect(data[0]?.end_user).toMatch(/^\w{11}:[\w-]{22}$/);
  });

  it('is shown to operators by the name of the end user, and asking makes nobody known', async () => {
    const account = await operate().createAccount();
    const { id, key } = await operate().createKey(account, ofUser(20));
    await askAs(key, 'ada_session_of_hers');
    await askAs(key, 'ada_session_of_hers', 1);
    await operate().waitUntilSettled(account);
    // Other keys of Redis come and go.
    const listUsers = async () => {
      const names = (await redis.cli('keys', '*user*')).split('\n').toSorted();
      const sets = names.filter((name) => name.includes('users:'));
      const members = sets.map((name) => redis.cli('zrange', name, '0', '-1'));
      return [...names, ...(await Promise.all(members))];
    };
    const usersBefore = await listUsers();
    expect(usersBefore.length).toBeGreaterThanOrEqual(3);
    const readLimits = async (user: string) => {
      const path = `/keys/${id}/limits?user=${encodeURIComponent(user)}`;
      return (await operate().call<{ limits: readonly object[] }>('GET', path)).limits;
    };
    const limit = { level: 'user', unit: 'requests', window: '1d', amount: 20, held: 0 };
    expect(await readLimits(' ada_session_of_hers ')).toMatchObject([{ ...limit, used: 2 }]);
    for (const stranger of ['b', 'c', 'd', 'e', `z' or 1=1`, '{"a":1}', 'ä\u0000|9']) {
      expect(await readLimits(stranger)).toMatchObject([{ ...limit, used: 0 }]);
    }
    expect(await listUsers()).toEqual(usersBefore);
    for (const wrong of ['', ' ', 'x'.repeat(513)]) {
      await expect(readLimits(wrong)).rejects.toThrow('must be the name of an end user');
    }
    const { limits } = await operate().call<{ limits: readonly object[] }>(
      'GET',
      `/keys/${id}/limits`,
    );
    expect(limits).toEqual([]);
  });

  it('has room for so many at a time as the settings say, and for those that are known', async () => {
    const fill = async (window: string) => {
      const controls = { user_limits: [{ unit: 'requests', window, amount: 100 }] };
      const { key } = await operate().createKey(await operate().createAccount(), controls);
      const first = await Promise.all(['a', 'b', 'c'].map((user) => askAs(key, user)));
      expect(first.map(({ status }) => status)).toEqual([200, 200, 200]);
      return key;
    };
    const full = await fill('5h');
    const refused = await askAs(full, 'd');
    expect(refused.status).toBe(429);
    expect(refused.body.error?.message).toContain('as many end users at once as it may have');
    expect((await askAs(full, 'c', 1)).status).toBe(200);
    // They are forgotten a moment after they have used nothing for a second.
    const short = await fill('1s');
    await waitUntil(async () => (await askAs(short, 'd')).status === 200, 'there is room again');
  });
});

describe('a group of keys', () => {
  const createGroup = (account: string, controls: object) =>
    operate().call<{ id: string }>('POST', `/accounts/${account}/groups`, {
      name: 'research',
      ...controls,
    });

  it('has one limit for all of its keys, on both nodes', async () => {
    const account = await operate().createAccount();
    const { id: group } = await createGroup(account, {
      limits: [{ unit: 'requests', window: '5h', amount: 30 }],
    });
    const keys = await Promise.all([1, 2].map(() => operate().createKey(account, { group })));
    const other = await operate().createKey(account);
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, (_, index) =>
        askAs(keys[index % 2]?.key ?? '', undefined, index % 4 < 2 ? 0 : 1),
      ),
    );
    expectAdmitted(answers, 30);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.error?.message).toContain('a limit of the group of this API key');
    expect((await askAs(other.key, undefined)).status).toBe(200);

    await operate().call('PATCH', `/groups/${group}`, { limits: [] });
    expect((await askAs(keys[0]?.key ?? '', undefined, 1)).status).toBe(200);
    await operate().waitUntilSettled(account);
    await operate().waitForBooks();
    const usage = await operate().call<{ data: { group: string | null; requests: number }[] }>(
      'GET',
      `/usage?account=${account}&by=group`,
    );
    // The one without any list belongs to the group too.
    const requests = new Map(usage.data.map((row) => [row.group, row.requests]));
    expect(requests).toEqual(
      new Map([
        [group, 31],
        [null, 1],
      ]),
    );
  });

  it('is of one account alone', async () => {
    const [mine, yours] = [await operate().createAccount(), await operate().createAccount()];
    const { id: group } = await createGroup(yours, {});
    const { id } = await operate().createKey(mine);
    for (const of of [group, 'grp_00aaaaaaaaaa', 'research']) {
      await expect(operate().setKey(id, { group: of })).rejects.toThrow('404');
      await expect(operate().createKey(mine, { group: of })).rejects.toThrow('group_not_found');
    }
    expect(await operate().key(id)).toMatchObject({ group: null });
  });
});
