import { type Command, Option } from 'commander';
import { ROLES } from '../../lib/role.ts';
import {
  type AdminOptions,
  type CommandHost,
  type Printout,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { CommandFailure } from '../command-failure.ts';
import { ABSENT, printTable } from '../print-table.ts';

interface OperatorData {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly status: string;
  readonly created_at: string;
  readonly used_at: string | null;
  readonly revoked_at: string | null;
  /** Present only when it is shown for the only time. */
  readonly token?: string;
}

interface SessionData {
  readonly id: string;
  readonly subject: string;
  readonly name: string;
  readonly role: string;
  readonly created_at: string;
  readonly until: string;
}

interface OperatorsData {
  readonly data: readonly OperatorData[];
  readonly sessions: readonly SessionData[];
}

export function registerOperatorCommands(program: Command, host: CommandHost): void {
  const group = program.command('operator').description('who may operate the gateway');

  withAdminOptions(group.command('create'))
    .description('create an operator and print the token, this once')
    .requiredOption('--name <name>', 'who it is')
    .addOption(new Option('--role <role>', 'what they may do').choices(ROLES).makeOptionMandatory())
    .action((options: AdminOptions & { readonly name: string; readonly role: string }) =>
      runAdminCommand(host, options, async (client) => {
        const { name, role } = options;
        return printOperator(await client.call<OperatorData>('POST', '/operators', { name, role }));
      }),
    );

  withAdminOptions(group.command('list'))
    .description('list operators, and who is signed in to the dashboard with an account')
    .action((options: AdminOptions) =>
      runAdminCommand(host, options, async (client) => {
        const data = await client.call<OperatorsData>('GET', '/operators');
        return { data, text: printOperators(data) };
      }),
    );

  withAdminOptions(group.command('revoke <id>'))
    .description('end the token of an operator for good, or a session of the dashboard')
    .option('--yes', 'do not ask first, as it does on a terminal')
    .action((id: string, options: AdminOptions & { readonly yes?: boolean }) =>
      runAdminCommand(host, options, async (client) => {
        const isAsked = options.yes !== true && host.terminal.isAttended();
        if (isAsked && !(await host.terminal.confirm(`Revoke ${id}, for good?`))) {
          throw new CommandFailure(`${id} was not revoked`);
        }
        const path = `/operators/${encodeURIComponent(id)}/revoke`;
        const revoked = await client.call<OperatorData | SessionData>('POST', path, {});
        if ('status' in revoked) return printOperator(revoked);
        return { data: revoked, text: `the session of ${revoked.name} has ended` };
      }),
    );
}

function printOperator(operator: OperatorData): Printout {
  const rows = [
    ['id', operator.id],
    ['name', operator.name],
    ['role', operator.role],
    ['status', operator.status],
    ['created', operator.created_at],
    ['revoked', operator.revoked_at ?? ABSENT],
    ...(operator.token === undefined ? [] : [['token', operator.token]]),
  ];
  return { data: operator, text: printTable(rows) };
}

function printOperators({ data, sessions }: OperatorsData): string {
  const operators = printTable([
    ['ID', 'NAME', 'ROLE', 'STATUS', 'CREATED', 'LAST USED'],
    ...data.map(({ id, name, role, status, created_at: createdAt, used_at: usedAt }) => [
      ...[id, name, role, status, createdAt, usedAt ?? ABSENT],
    ]),
  ]);
  if (sessions.length === 0) return operators;
  const signedIn = printTable([
    ['SESSION', 'NAME', 'ROLE', 'SINCE', 'UNTIL'],
    ...sessions.map(({ id, name, role, created_at: since, until }) => [
      ...[id, name, role, since, until],
    ]),
  ]);
  return `${operators}\n\n${signedIn}`;
}
