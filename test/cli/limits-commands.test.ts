import { describe, expect, it } from 'vitest';
import { cell, useAdminCli } from './use-admin-cli.ts';

const { run, runOk, runJson, createAccount } = useAdminCli();
const TOKENS = { unit: 'tokens', window: '1m', amount: 400_000, action: 'block' };
const CREDITS = { unit: 'credits', window: 'day', amount: 2.5, action: 'warn' };
interface Entry {
  readonly what: string;
}
const RATE_OF_PLAN = { level: 'account', kind: 'rate', unit: 'requests', action: 'block' };
const WRITTEN = ['tokens=400000/1m', 'credits=2.5/day:warn'] as const;

describe('tollgate limits', () => {
  it('sets and shows the list of an account, a group or a key, and empties it', async () => {
    const account = await createAccount();
    const { id: group } = await runJson('group', 'create', '--account', account, '--name', 'team');
    const { id: key } = await runJson('key', 'create', '--account', account);
    for (const id of [String(key), String(group), account]) {
      await runOk('limits', 'set', id, ...WRITTEN);
      expect(await runJson('limits', 'show', id)).toMatchObject([TOKENS, CREDITS, RATE_OF_PLAN]);
      expect(await runOk('limits', 'show', id)).toContain('credits=2.5/day:warn');
    }
    expect(await runJson('limits', 'show', String(key))).toMatchObject([
      { level: 'key', used: 0, held: 0 },
      { level: 'key' },
      { level: 'account', kind: 'list' },
      { level: 'account', kind: 'list' },
      RATE_OF_PLAN,
    ]);
    expect(await runJson('limits', 'show', account)).toMatchObject([
      { level: 'account', used: 0, held: 0, reset_at: expect.stringMatching(/Z$/) },
      { level: 'account', kind: 'list' },
      RATE_OF_PLAN,
    ]);
    const table = await runOk('limits', 'show', String(group));
    expect(table.split('\n')[0]).toMatch(/^OF +LIMIT +USED +HELD +EMPTY$/);
    expect(table.match(/^(group|account) .*/gm)).toHaveLength(5);
    await runOk('limits', 'set', account, 'none');
    expect(await runJson('limits', 'show', account)).toMatchObject([RATE_OF_PLAN]);
  });

  it('shows the controls of a key and the rate of its account with their use', async () => {
    const account = await createAccount();
    const { id } = await runJson(
      ...['key', 'create', '--account', account, '--rpm', '60'],
      ...['--monthly-cap', '12.5', '--concurrency', '8'],
    );
    const unused = { used: 0, held: 0 };
    expect(await runJson('limits', 'show', String(id))).toMatchObject([
      { level: 'key', kind: 'rate', unit: 'requests', window: '1m', amount: 60, ...unused },
      { level: 'key', kind: 'monthly_cap', unit: 'credits', window: 'month', amount: 12.5 },
      { level: 'key', kind: 'concurrency', window: null, amount: 8, ...unused, reset_at: null },
      RATE_OF_PLAN,
    ]);
    const table = await runOk('limits', 'show', String(id));
    expect(table).toMatch(/^key +requests=60[/]1m [(]rate[)] +0 +0 +2\S+Z$/m);
    expect(table).toMatch(
      /^key +credits=12[.]5[/]month [(]monthly cap[)] +0 +0 +\d+-\d\d-01T00:00:00[.]000Z$/m,
    );
    expect(table).toMatch(/^key +concurrency=8 +0 +0 +-$/m);
    expect(table).toMatch(/^account +requests=\d+[/]1m [(]rate[)] /m);
  });

  it('shows those of one end user of a key, and of nothing else', async () => {
    const account = await createAccount();
    const { id } = await runJson('key', 'create', '--account', account, '--user-limit', WRITTEN[0]);
    expect(await runJson('limits', 'show', String(id), '--user', 'ada')).toMatchObject([
      { ...TOKENS, level: 'user', used: 0, held: 0 },
      RATE_OF_PLAN,
    ]);
    expect(await runJson('limits', 'show', String(id))).toMatchObject([RATE_OF_PLAN]);
    const { code, err } = await run('limits', 'show', account, '--user', 'ada');
    expect(code).toBe(1);
    expect(err).toContain('user');
  });

  it('replaces a list only if its version is the one that is named', async () => {
    const account = await createAccount();
    const { id: group } = await runJson('group', 'create', '--account', account, '--name', 'team');
    const { id: key } = await runJson('key', 'create', '--account', account);
    const commands = [
      ['account', account],
      ['group', String(group)],
      ['key', String(key)],
    ] as const;
    for (const [command, id] of commands) {
      const seen = cell(await runOk(command, 'show', id), 'version');
      await runOk('limits', 'set', id, WRITTEN[0], '--base-version', seen);
      const { code, err } = await run('limits', 'set', id, WRITTEN[1], '--base-version', seen);
      expect([command, code]).toEqual([command, 1]);
      expect(err).toContain(`${id} was changed meanwhile`);
      expect(await runJson(command, 'show', id)).toMatchObject({ limits: [TOKENS] });
    }
  });

  it('refuses what is no limit before it asks anybody', async () => {
    for (const wrong of ['tokens', 'tokens=1/1y', 'words=1/1m', 'tokens=1.5/1m']) {
      const { code, out, err } = await run('limits', 'set', 'acct_000000000000', wrong);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain('It must be a limit such as tokens=400000/1m');
    }
  });
});

describe('tollgate group', () => {
  it('creates, lists, shows and changes a group, and keys that belong to it', async () => {
    const account = await createAccount();
    const out = await runOk(
      ...['group', 'create', '--account', account, '--name', 'research'],
      ...['--limit', WRITTEN[0] ?? '', '--limit', WRITTEN[1] ?? ''],
      ...['--user-limit', 'requests=50/5h', '--require-user', 'yes'],
    );
    const id = cell(out, 'id');
    expect(out).toMatch(/^limits +tokens=400000\/1m, credits=2\.5\/day:warn$/m);
    const { data } = await runJson('group', 'list', '--account', account).then((groups) => ({
      data: groups,
    }));
    expect(data).toMatchObject([
      { id, name: 'research', limits: [TOKENS, CREDITS], require_user: true },
    ]);
    expect(await runOk('group', 'list', '--account', account)).toContain('requests=50/5h');
    await runOk('group', 'set', id, '--name', 'other', '--require-user', 'no');
    expect(await runJson('group', 'show', id)).toMatchObject({
      ...{ name: 'other', require_user: false, user_limits: [{ unit: 'requests' }] },
    });
    const key = await runJson(
      ...['key', 'create', '--account', account, '--group', id],
      ...['--limit', WRITTEN[0] ?? '', '--user-limit', WRITTEN[1] ?? ''],
    );
    expect(key).toMatchObject({ group: id, limits: [TOKENS], user_limits: [CREDITS] });
    expect(cell(await runOk('key', 'set', String(key['id']), '--group', 'none'), 'group')).toBe(
      '-',
    );
    const emptied = await runOk('group', 'set', id, '--user-limit', 'none', '--limit', 'none');
    expect([cell(emptied, 'limits'), cell(emptied, 'user limits')]).toEqual(['-', '-']);
    const both = await run('group', 'set', id, '--limit', 'requests=1/day', '--limit', 'none');
    expect(both.err).toContain('It must be a limit such as tokens=400000/1m');
    expect(await runOk('audit', '--account', account)).toMatch(
      new RegExp(`^\\S+ +group\\.set +${account} +${id} `, 'm'),
    );
    const entries = (await runJson('audit', '--account', account)) as unknown as Entry[];
    const [, changed, made] = entries.filter(({ what }) => what.startsWith('group.'));
    expect(made).toMatchObject({ what: 'group.create', after: { id, name: 'research' } });
    expect(changed).toMatchObject({ what: 'group.set', before: { name: 'research' } });
  });

  it('an account is created and changed with limits of its own', async () => {
    const account = await createAccount('--limit', WRITTEN[0] ?? '');
    expect(await runJson('account', 'show', account)).toMatchObject({ limits: [TOKENS] });
    const set = await runOk('account', 'set', account, '--limit', WRITTEN[1] ?? '');
    expect(cell(set, 'limits')).toBe('credits=2.5/day:warn');
  });
});

describe('tollgate events and webhooks', () => {
  it('list what was told and who is told, and say why a test was not taken', async () => {
    expect(await runJson('events', '--type', 'limit.reached', '--limit', '5')).toEqual([]);
    expect((await runOk('events')).startsWith('AT  TYPE')).toBe(true);
    expect(await runJson('webhooks', 'list')).toMatchObject([{ name: 'sample', waiting: 0 }]);
    expect(await runOk('webhooks', 'list')).toContain('https://hooks.test/');
    const { code, err } = await run('webhooks', 'test', 'sample');
    expect([code, err]).toEqual([1, 'tollgate: sample did not take it: nobody is there\n']);
    const failed = await run('webhooks', 'test', 'sample', '--json');
    expect([failed.code, failed.err]).toEqual([1, '']);
    expect(JSON.parse(failed.out)).toMatchObject({
      ...{ delivered: false, status: null, reason: 'nobody is there' },
    });
    expect((await run('webhooks', 'test', 'other')).err).toContain('these webhooks: sample');
    expect((await run('events', '--type', 'unknown')).err).toContain(
      'must be one of limit.warning',
    );
  });

  it('set from when the balance of an account is low', async () => {
    const account = await createAccount('--low-balance', '12.5');
    expect(cell(await runOk('account', 'show', account), 'low below')).toBe('12.5');
    await runOk('account', 'set', account, '--low-balance', 'none');
    expect(cell(await runOk('account', 'show', account), 'low below')).toBe('by the settings');
  });
});
