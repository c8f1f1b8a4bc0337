import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestOps, type TestOps } from '../ops/start-test-ops.ts';
import { closeConnections } from '../support/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/start-redis-server.ts';
import { runHere } from './use-cli.ts';

const undos: (() => void | Promise<void>)[] = [];
let ops: TestOps;

beforeAll(async () => {
  ops = await startTestOps(await startRedisServer(), (undo) => undos.push(undo));
});
afterAll(async () => {
  for (const undo of undos) await undo();
  await closeConnections();
  await stopRedisServers();
});

async function run(...args: string[]): Promise<string> {
  const env = { TOLLGATE_ADMIN_URL: ops.url, TOLLGATE_DATA_DIR: ops.dataDir };
  const { code, out, err } = await runHere(env, ...args);
  expect([code, err], args.join(' ')).toEqual([0, '']);
  return out;
}

async function createAccount(): Promise<string> {
  const out = await run('account', 'create', '--name', 'Acme', '--plan', 'pro', '--json');
  return String((JSON.parse(out) as { id: string }).id);
}

it('tollgate audit shows what was changed, by whom, and tells commands from programs', async () => {
  const account = await createAccount();
  await ops.call('PATCH', `/accounts/${account}`, { plan: 'team' });
  const [head, ...rows] = (await run('audit', '--account', account)).trim().split('\n');
  expect(head).toMatch(/^AT +WHAT +ACCOUNT +KEY +VIA +TOKEN +ADDRESS +OUTCOME +CHANGES$/);
  expect(rows).toEqual([
    expect.stringMatching(
      new RegExp(
        `account\\.set +${account} +- +api +\\w{8} +127\\.0\\.0\\.1 +done +plan: pro → team$`,
      ),
    ),
    expect.stringMatching(
      new RegExp(
        `account\\.create +${account} +- +cli .* id: ${account}; name: Acme; plan: pro; status: active; \\d more$`,
      ),
    ),
  ]);
  expect(JSON.parse(await run('audit', '--account', account, '--limit', '1', '--json'))).toEqual([
    expect.objectContaining({
      ...{ what: 'account.set', account },
      changes: [{ field: 'plan', before: 'pro', after: 'team' }],
    }),
  ]);
});

it('tollgate audit names suspensions as such, and cuts values that are long', async () => {
  const account = await createAccount();
  await run('account', 'suspend', account);
  await run('account', 'resume', account);
  const note = 'x'.repeat(400);
  await run('credits', 'add', '--account', account, '--amount', '1', '--note', note);
  const [, added, resumed, suspended] = (await run('audit', '--account', account)).split('\n');
  expect(suspended).toMatch(/account\.suspend .* status: active → suspended$/);
  expect(resumed).toMatch(/account\.resume .* status: suspended → active$/);
  expect(added).toContain('credits.add');
  expect(added?.length).toBeLessThan(400);
});

it('tollgate audit export prints every entry as a line of JSON, however many pages there are', async () => {
  expect(await run('audit', 'export', '--account', 'acct_000000000000')).toBe('');
  const account = await createAccount();
  const CHANGES = 1_100;
  for (let i = 0; i < CHANGES; i++) {
    await ops.audit.add({
      ...{ what: 'account.set', who: { via: 'api', token: null, address: null }, node: 'n' },
      ...{ account, key: null, outcome: 'done', before: null, after: { name: `name ${i}` } },
    });
  }
  const lines = (await run('audit', 'export', '--account', account)).trim().split('\n');
  const names = lines.map((line) => (JSON.parse(line) as { after: { name: string } }).after.name);
  const expected = Array.from({ length: CHANGES }, (_, i) => `name ${i}`);
  expect(names.toReversed()).toEqual(['Acme', ...expected]);
});
