import { Command } from 'commander';
import { expect, it, onTestFinished, vi } from 'vitest';
import { registerAuditCommands } from '../../src/cli/commands/audit-commands.ts';
import { createTerminal, type Terminal } from '../../src/cli/terminal.ts';
import { useAdminCli } from './use-admin-cli.ts';

const { ops, env, runOk, createAccount } = useAdminCli();

/** More than a page has. */
const CHANGES = 1_100;

async function addChanges(account: string) {
  for (let i = 0; i < CHANGES; i++) {
    await ops().audit.add({
      ...{
        what: 'account.set',
        who: { via: 'api', token: null, address: null, operator: null },
        node: 'n',
      },
      ...{ account, key: null, outcome: 'done', before: null, after: { name: `name ${i}` } },
    });
  }
}

it('tollgate audit shows what was changed, by whom, and tells commands from programs', async () => {
  const account = await createAccount();
  await ops().call('PATCH', `/accounts/${account}`, { plan: 'team' });
  const [head, ...rows] = (await runOk('audit', '--account', account)).trim().split('\n');
  expect(head).toMatch(
    /^AT +WHAT +ACCOUNT +KEY OR GROUP +BY +VIA +TOKEN +ADDRESS +OUTCOME +CHANGES$/,
  );
  expect(rows).toEqual([
    expect.stringMatching(
      new RegExp(
        `account\\.set +${account} +- +- +api +\\w{8} +127\\.0\\.0\\.1 +done +plan: pro → team$`,
      ),
    ),
    expect.stringMatching(
      new RegExp(
        `account\\.create +${account} +- +- +cli .* id: ${account}; name: Acme; plan: pro; status: active; \\d more$`,
      ),
    ),
  ]);
  expect(JSON.parse(await runOk('audit', '--account', account, '--limit', '1', '--json'))).toEqual([
    expect.objectContaining({
      ...{ what: 'account.set', account },
      changes: [{ field: 'plan', before: 'pro', after: 'team' }],
    }),
  ]);
});

it('tollgate audit names suspensions as such, and cuts values that are long', async () => {
  const account = await createAccount();
  await runOk('account', 'suspend', account);
  await runOk('account', 'resume', account);
  const note = 'x'.repeat(400);
  await runOk('credits', 'add', '--account', account, '--amount', '1', '--note', note);
  const [, added, resumed, suspended] = (await runOk('audit', '--account', account)).split('\n');
  expect(suspended).toMatch(/account\.suspend .* status: active → suspended$/);
  expect(resumed).toMatch(/account\.resume .* status: suspended → active$/);
  expect(added).toContain('credits.add');
  expect(added?.length).toBeLessThan(400);
});

it('tollgate audit export prints every entry as a line of JSON, however many pages there are', async () => {
  expect(await runOk('audit', 'export', '--account', 'acct_000000000000')).toBe('');
  const account = await createAccount();
  await addChanges(account);
  const lines = (await runOk('audit', 'export', '--account', account)).trim().split('\n');
  const names = lines.map((line) => (JSON.parse(line) as { after: { name: string } }).after.name);
  const expected = Array.from({ length: CHANGES }, (_, i) => `name ${i}`);
  expect(names.toReversed()).toEqual(['Acme', ...expected]);
});

it('tollgate audit export asks for a page only when its reader has taken the one before', async () => {
  const account = await createAccount();
  await addChanges(account);
  const asked = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => asked.mockRestore());
  const counts: number[] = [];
  const terminal: Terminal = {
    ...createTerminal(),
    out: () => counts.push(0),
    async outPaced() {
      await ops().call('GET', '/accounts');
      counts.push(asked.mock.calls.filter(([url]) => String(url).includes('/audit')).length);
    },
  };
  for (const [name, value] of Object.entries(env())) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const program = new Command();
  registerAuditCommands(program, { terminal, setExitCode: () => {} });
  await program.parseAsync(['audit', 'export', '--account', account], { from: 'user' });
  expect(counts).toEqual([1, 2]);
});
