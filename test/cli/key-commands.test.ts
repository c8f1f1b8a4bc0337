import { describe, expect, it } from 'vitest';
import { cell, useAdminCli } from './use-admin-cli.ts';

const DAY_MS = 86_400_000;
const { ops, run, runOk, runJson, createAccount } = useAdminCli();

describe('tollgate key', () => {
  const CONTROLS = [
    ...['--name', 'build server', '--rpm', '60', '--models', 'opus,llm-opus-4.7'],
    ...['--monthly-cap', '12.5', '--concurrency', '3', '--expires', '2040-01-31'],
  ];
  const SHOWN = {
    name: 'build server',
    rpm: 60,
    models: ['opus', 'llm-opus-4.7'],
    monthly_cap: 12.5,
    concurrency: 3,
    expires_at: '2040-01-31T00:00:00.000Z',
  };

  it('creates a key and prints it, this once', async () => {
    const account = await createAccount();
    const out = await runOk('key', 'create', '--account', account, ...CONTROLS);
    const [id, key] = [cell(out, 'id'), cell(out, 'key')];
    expect(await ops().directory.check(key)).toBe('known');
    expect(out).toContain('only this once');
    const shown = await runJson('key', 'show', id);
    expect(shown).toMatchObject({ id, account, ...SHOWN, status: 'active' });
    for (const again of [await runOk('key', 'show', id), await runOk('key', 'list')]) {
      expect(again).toContain(id);
      expect(again).toContain('build server');
      expect(again).not.toContain(key);
    }
  });

  it('changes controls, and removes them with none', async () => {
    const account = await createAccount();
    const { id } = await runJson('key', 'create', '--account', account, ...CONTROLS);
    const set = (...args: string[]) => runJson('key', 'set', String(id), ...args);
    expect(await set('--rpm', '5', '--expires', '2041-01-31T12:00:00+01:00')).toMatchObject({
      ...SHOWN,
      rpm: 5,
      expires_at: '2041-01-31T11:00:00.000Z',
    });
    expect(
      await set(
        ...['--name', 'none', '--rpm', 'none', '--models', 'none'],
        ...['--monthly-cap', 'none', '--concurrency', 'none', '--expires', 'none'],
      ),
    ).toMatchObject({
      ...{ name: '', rpm: null, models: null },
      ...{ monthly_cap: null, concurrency: null, expires_at: null },
    });
  });

  it('ends a key so long from now, or at a time, but not in the past', async () => {
    const account = await createAccount();
    const { id } = await runJson('key', 'create', '--account', account, '--expires', '30d');
    const endOf = async (...args: string[]) => {
      const shown = await runJson('key', 'set', String(id), '--expires', ...args);
      return Date.parse(String(shown['expires_at']));
    };
    const created = await runJson('key', 'show', String(id));
    const livesMs =
      Date.parse(String(created['expires_at'])) - Date.parse(String(created['created_at']));
    expect(Math.abs(livesMs - 30 * DAY_MS)).toBeLessThan(DAY_MS / 24);
    expect(await endOf('2d')).toBeLessThan(await endOf('72h'));
    expect(await endOf('2041-01-31T12:00:00Z')).toBe(Date.parse('2041-01-31T12:00:00Z'));
    for (const past of ['2020-01-31', '0d']) {
      const refused = await run('key', 'set', String(id), '--expires', past);
      expect([refused.code, refused.out]).toEqual([1, '']);
      expect(refused.err).toContain('expires_at: must be in the future');
    }
    await ops().directory.patchKey(String(id), { expiresMs: Date.now() - 1 });
    expect(cell(await runOk('key', 'show', String(id)), 'status')).toBe('expired');
    expect(await runOk('key', 'list', '--account', account)).toMatch(/ expired /);
  });

  it('revokes without asking where nobody can answer, and on a terminal with --yes', async () => {
    const account = await createAccount();
    for (const more of [[], ['--yes']]) {
      const { id } = await runJson('key', 'create', '--account', account);
      expect(cell(await runOk('key', 'revoke', String(id), ...more), 'status')).toBe('revoked');
    }
  });

  it('lists the keys of one account or of all', async () => {
    const [first, second] = [await createAccount(), await createAccount()];
    const ids: unknown[] = [];
    for (const account of [first, second]) {
      ids.push((await runJson('key', 'create', '--account', account))['id']);
    }
    const list = async (...args: string[]) =>
      ((await runJson('key', 'list', ...args)) as unknown as { id: string }[]).map(({ id }) => id);
    expect(await list('--account', first)).toEqual([ids[0]]);
    expect(await list()).toEqual(expect.arrayContaining(ids));
  });

  it('rotates with an overlap and revokes', async () => {
    const account = await createAccount();
    const created = await runJson('key', 'create', '--account', account);
    const id = String(created['id']);
    const rotated = await runOk('key', 'rotate', id, '--overlap', '1h');
    expect(await ops().directory.check(String(created['key']))).toBe('known');
    expect(await ops().directory.check(cell(rotated, 'key'))).toBe('known');
    const { key } = await runJson('key', 'rotate', id, '--overlap', '0s');
    expect(await ops().directory.check(cell(rotated, 'key'))).toBe('unknown');
    expect(await ops().directory.check(String(key))).toBe('known');
    expect(cell(await runOk('key', 'revoke', id), 'status')).toBe('revoked');
    expect(await ops().directory.check(String(key))).toBe('revoked');
    const refused = await run('key', 'set', id, '--rpm', '1');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toBe(`tollgate: the key ${id} is revoked, and that is final\n`);
  });
});
