import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { WrittenLimit } from '../../config/schema/limit-schemas.ts';
import { type AdminClient, readPages } from '../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  type Printout,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { isRefused } from '../command-failure.ts';
import { formatWrittenList, parseListOption } from '../limit-option.ts';
import { NONE, orNone, parseAmount, parsePositiveAmount } from '../parse-values.ts';
import { ABSENT, printTable } from '../print-table.ts';

interface AccountData {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly status: string;
  readonly limits: readonly WrittenLimit[];
  readonly balance: number;
  /** Absent if the node runs an earlier version. */
  readonly low_balance?: number | null;
  readonly held: number;
  readonly created_at: string;
  /** Absent if the node runs an earlier version. */
  readonly version?: number;
}

interface AccountOptions extends AdminOptions {
  readonly name?: string;
  readonly plan?: string;
  readonly limit?: readonly WrittenLimit[];
  readonly lowBalance?: number | typeof NONE;
}

interface CreateOptions extends AccountOptions {
  readonly credits?: number;
}

export function registerAccountCommands(program: Command, host: CommandHost): void {
  const group = program.command('account').description('accounts: plan, balance, status');

  withAdminOptions(group.command('create'))
    .description('create an account')
    .requiredOption('--name <name>', 'its name')
    .addOption(planOption().makeOptionMandatory())
    .option('--credits <amount>', 'what its balance begins with', parsePositiveAmount)
    .addOption(limitOption())
    .addOption(lowBalanceOption())
    .action((options: CreateOptions) =>
      runAdminCommand(host, options, async (client) =>
        printAccount(await createAccount(host, client, options)),
      ),
    );

  withAdminOptions(group.command('list'))
    .description('list all accounts')
    .action((options: AdminOptions) =>
      runAdminCommand(host, options, async (client) => {
        const accounts = await fetchAccounts(client);
        return { data: accounts, text: printAccounts(accounts) };
      }),
    );

  withAdminOptions(group.command('show <id>'))
    .description('show an account')
    .action((id: string, options: AdminOptions) =>
      runAdminCommand(host, options, async (client) =>
        printAccount(await client.call('GET', pathOf(id))),
      ),
    );

  withAdminOptions(group.command('set <id>'))
    .description('change an account')
    .option('--name <name>', 'its name')
    .addOption(planOption())
    .addOption(limitOption())
    .addOption(lowBalanceOption())
    .action((id: string, options: AccountOptions, command: Command) => {
      const { name, plan, limit: limits } = options;
      const patch = { name, plan, limits, low_balance: lowBalanceOf(options) };
      if (Object.values(patch).every((value) => value === undefined)) {
        command.error(
          'error: there is nothing to set: name --name, --plan, --limit or --low-balance',
        );
      }
      return patchAccount(host, options, id, patch);
    });

  for (const [verb, status] of [
    ['suspend', 'suspended'],
    ['resume', 'active'],
  ] as const) {
    withAdminOptions(group.command(`${verb} <id>`))
      .description(`make an account ${status}`)
      .action((id: string, options: AdminOptions) => patchAccount(host, options, id, { status }));
  }
}

async function createAccount(
  { terminal }: CommandHost,
  client: AdminClient,
  options: CreateOptions,
): Promise<AccountData> {
  const { name, plan, credits, limit: limits } = options;
  const details = { name, plan, limits, low_balance: lowBalanceOf(options) };
  const account = await client.call<AccountData>('POST', '/accounts', details);
  if (credits === undefined) return account;
  const payment = { amount: credits, id: randomUUID(), note: '' };
  const path = `${pathOf(account.id)}/credits`;
  const paid = client.call<Pick<AccountData, 'balance'>>('POST', path, payment);
  const { balance } = await paid.catch((cause) => {
    terminal.err(explainPayment(account.id, payment, isRefused(cause)));
    throw cause;
  });
  // Asking the node again could fail, and then nobody would learn the id.
  return { ...account, balance };
}

export async function fetchAccounts(client: AdminClient): Promise<readonly AccountData[]> {
  const accounts: AccountData[] = [];
  for await (const page of readPages<AccountData>(client, '/accounts', { cursor: 'after' })) {
    accounts.push(...page);
  }
  return accounts;
}

/** A payment without an answer may have been entered. With its id, it is entered at most once. */
function explainPayment(
  account: string,
  { amount, id }: { readonly amount: number; readonly id: string },
  isKnown: boolean,
): string {
  if (isKnown) return `tollgate: ${account} was created without credits`;
  const command = `tollgate credits add --account ${account} --amount ${amount} --id ${id}`;
  return `tollgate: ${account} was created; whether it has its credits is not known: \`${command}\` enters them once`;
}

function planOption(): Option {
  return new Option('--plan <plan>', 'what its keys may do together, such as pro');
}

function limitOption(): Option {
  return new Option(
    '--limit <limit>',
    'of all its keys together: tokens=400000/1m; may be repeated',
  ).argParser(parseListOption);
}

function lowBalanceOption(): Option {
  return new Option(
    '--low-balance <credits>',
    'below which its balance is low; none for what the settings say',
  ).argParser(orNone(parseAmount));
}

function lowBalanceOf({ lowBalance }: AccountOptions): number | null | undefined {
  return lowBalance === NONE ? null : lowBalance;
}

function patchAccount(host: CommandHost, options: AdminOptions, id: string, patch: object) {
  return runAdminCommand(host, options, async (client) =>
    printAccount(await client.call('PATCH', pathOf(id), patch)),
  );
}

function pathOf(id: string): string {
  return `/accounts/${encodeURIComponent(id)}`;
}

function printAccount(account: AccountData): Printout {
  const text = printTable([
    ['id', account.id],
    ['name', account.name],
    ['plan', account.plan],
    ['status', account.status],
    ['limits', formatWrittenList(account.limits)],
    ['balance', String(account.balance)],
    ['held', String(account.held)],
    ['low below', String(account.low_balance ?? 'by the settings')],
    ['created', account.created_at],
    ['version', String(account.version ?? ABSENT)],
  ]);
  return { data: account, text };
}

function printAccounts(accounts: readonly AccountData[]): string {
  return printTable([
    ['ID', 'NAME', 'PLAN', 'STATUS', 'BALANCE', 'HELD'],
    ...accounts.map(({ id, name, plan, status, balance, held }) => [
      ...[id, name, plan, status],
      ...[String(balance), String(held)],
    ]),
  ]);
}
