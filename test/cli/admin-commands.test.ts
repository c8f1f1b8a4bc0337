import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { cell, useAdminCli } from './use-admin-cli.ts';
import { type Run, runHere, runProgram } from './use-cli.ts';

const { ops, env, run, runOk, runJson, createAccount } = useAdminCli();

describe('tollgate account', () => {
  it('creates an account, with or without credits, and shows it', async () => {
    const out = await runOk('account', 'create', '--name', 'Acme Ltd', '--plan', 'team');
    const id = cell(out, 'id');
    expect(id).toMatch(/^acct_/);
    for (const [name, value] of [
      ['name', 'Acme Ltd'],
      ['plan', 'team'],
      ['status', 'active'],
      ['balance', '0'],
      ['held', '0'],
    ] as const) {
      expect(cell(out, name)).toBe(value);
    }
    expect(await runOk('account', 'show', id)).toBe(out);
    const paid = await createAccount('--credits', '100.000001');
    expect(await runJson('account', 'show', paid)).toMatchObject({ id: paid, balance: 100.000001 });
  });

  it('changes, suspends and resumes one', async () => {
    const id = await createAccount();
    const changed = { id, name: 'Other', plan: 'business' };
    expect(
      await runJson('account', 'set', id, '--name', 'Other', '--plan', 'business'),
    ).toMatchObject(changed);
    expect(cell(await runOk('account', 'suspend', id), 'status')).toBe('suspended');
    expect(await ops().directory.getAccount(id)).toMatchObject({ ...changed, status: 'suspended' });
    expect(await runJson('account', 'resume', id)).toMatchObject({ ...changed, status: 'active' });
  });

  it('lists all of them, over every page', async () => {
    for (let i = 0; i < 120; i++) await ops().directory.createAccount({ name: 'x', plan: 'pro' });
    const { accounts } = await ops().directory.listAccounts({ limit: 1_000 });
    const out = await runOk('account', 'list');
    const ids = out
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]);
    expect(ids).toEqual(['ID', ...accounts.map(({ id }) => id)]);
    const listed = (await runJson('account', 'list')) as unknown as { id: string }[];
    expect(listed.map(({ id }) => id)).toEqual(ids.slice(1));
  });
});

describe('tollgate credits add', () => {
  const add = (account: string, ...args: string[]) =>
    runOk('credits', 'add', '--account', account, ...args);

  it('enters a payment once, and prints its id', async () => {
    const account = await createAccount();
    const payment = ['--amount', '7.5', '--id', 'invoice-1', '--note', 'paid'];
    expect(cell(await add(account, ...payment), 'balance')).toBe('7.5');
    const again = await add(account, ...payment);
    expect(cell(again, 'payment')).toBe('invoice-1');
    expect(cell(again, 'amount')).toContain('entered before');
    expect(cell(again, 'balance')).toBe('7.5');
    expect(cell(await add(account, '--amount', '-0.5'), 'balance')).toBe('7');
  });

  it('makes an id where none is given, another one each time', async () => {
    const account = await createAccount();
    const ids = [await add(account, '--amount', '1'), await add(account, '--amount', '1')];
    expect(new Set(ids.map((out) => cell(out, 'payment'))).size).toBe(2);
    expect(await runJson('account', 'show', account)).toMatchObject({ balance: 2 });
  });

  it('says what may be taken, when that is less than what was asked for', async () => {
    const account = await createAccount('--credits', '3');
    const failed = await run('credits', 'add', '--account', account, '--amount', '-5');
    expect([failed.code, failed.out]).toEqual([1, '']);
    expect(failed.err).toContain(
      'tollgate: 5 credits cannot be taken: the balance is 3 and running requests hold 0 of it, so at most 3 can be taken\n',
    );
  });

  it('tells the id of a payment that failed, so that it can be sent again', async () => {
    const failed = await run('credits', 'add', '--account', 'acct_000000000000', '--amount', '1');
    expect(failed).toMatchObject({ code: 1, out: '' });
    expect(failed.err).toMatch(/the payment's id is [0-9a-f-]{36}\n.*there is no account/);
  });
});

describe('a command over the admin API', () => {
  const list = ['account', 'list'];

  it('says that the node cannot be reached', async () => {
    const { code, out, err } = await run(...list, '--url', 'http://127.0.0.1:1');
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe(
      'tollgate: cannot reach the node at http://127.0.0.1:1: is it running? For another one, set --url or TOLLGATE_ADMIN_URL\n',
    );
  });

  it('says that there is no token, or that it is wrong, and where it comes from', async () => {
    const none = await run(...list, '--data-dir', '/nowhere');
    expect([none.code, none.out]).toEqual([1, '']);
    expect(none.err).toContain('there is no admin token: set TOLLGATE_ADMIN_TOKEN');
    expect(none.err).toContain('/nowhere/admin-token');
    const variables = { TOLLGATE_ADMIN_URL: ops().url, TOLLGATE_ADMIN_TOKEN: 'wrong' };
    const wrong = await runHere(variables, ...list);
    expect([wrong.code, wrong.out]).toEqual([1, '']);
    expect(wrong.err).toContain(`the admin token is wrong for ${ops().url}`);
  });

  it('takes the token from the environment, and its address from an option', async () => {
    const token = { TOLLGATE_ADMIN_TOKEN: ops().token.reveal(), TOLLGATE_DATA_DIR: '/nowhere' };
    expect(await runHere(token, ...list, '--url', `${ops().url}/`)).toMatchObject({ code: 0 });
  });

  it('says that something else answers', async () => {
    const other = createServer((_request, response) => response.end('<html>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const { code, err } = await run(...list, '--url', `http://127.0.0.1:${port}`);
    other.close();
    expect(code).toBe(1);
    expect(err).toContain('does not answer like the admin API of a node');
  });

  it('ends with 2 and an explanation when the command line is wrong', async () => {
    const expectUsage = ({ code, out, err }: Run, what: string) => {
      expect([code, out], what).toEqual([2, '']);
      expect(err, what).not.toBe('');
    };
    for (const line of [
      'account',
      'account create --name x',
      'account create --name x --plan pro --limit gold',
      'account create --name x --plan pro --credits 1.0000001',
      'account set acct_000000000000',
      'account show',
      'key create',
      'key create --account a --rpm many',
      'key create --account a --rpm none',
      'key create --account a --expires tomorrow',
      'key create --account a --expires 40000d',
      'key create --account a --expires 1.5d',
      'requests show',
      'key create --account a --monthly-cap 1e3',
      'key create --account a --models a,,b',
      'key set 00000000000',
      'key rotate 00000000000 --overlap 1.5h',
      'key rotate 00000000000 --overlap 10ms',
      'credits add --account a',
      'ledger',
      'ledger export --format xml',
      'nonsense',
    ]) {
      expectUsage(await run(...line.split(' ')), line);
    }
  });
});

describe('the program tollgate', () => {
  const start = (...args: string[]) => runProgram(env(), ...args);

  it('creates an account, a key and credits that work', async () => {
    const create = ['account', 'create', '--name', 'Acme', '--plan', 'pro', '--credits', '2'];
    const created = await start(...create);
    expect([created.code, created.err]).toEqual([0, '']);
    const id = cell(created.out, 'id');
    const key = await start('key', 'create', '--account', id, '--rpm', '5', '--json');
    expect([key.code, key.err]).toEqual([0, '']);
    expect(await ops().directory.check(JSON.parse(key.out).key)).toBe('known');
    const added = await start('credits', 'add', '--account', id, '--amount', '0.5');
    expect([added.code, added.err]).toEqual([0, '']);
    expect(await ops().directory.getAccount(id)).toMatchObject({ balanceMicros: 2_500_000 });
  });

  it('ends with 1 for what fails, with 2 for what nobody can carry out, with 0 for its help', async () => {
    const failed = await start('key', 'show', '00000000000');
    expect(failed).toEqual({ code: 1, out: '', err: 'tollgate: there is no key 00000000000\n' });
    expect(await start('key', 'show')).toMatchObject({ code: 2, out: '' });
    const help = await start('key', 'create', '--help');
    expect([help.code, help.err]).toEqual([0, '']);
    for (const option of ['--account', '--rpm', '--models', '--json', '--url', '--data-dir']) {
      expect(help.out).toContain(option);
    }
  });
});
