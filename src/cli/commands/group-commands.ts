import type { Command } from 'commander';
import type { WrittenLimit } from '../../config/schema/limit-schemas.ts';
import {
  type AdminOptions,
  type CommandHost,
  type Printout,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { formatWrittenList, parseListOption } from '../limit-option.ts';
import { parseYesOrNo } from '../parse-values.ts';
import { ABSENT, printTable } from '../print-table.ts';

interface GroupData {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly limits: readonly WrittenLimit[];
  readonly user_limits: readonly WrittenLimit[];
  readonly require_user: boolean;
  readonly created_at: string;
  /** Absent if the node runs an earlier version. */
  readonly version?: number;
}

interface GroupOptions extends AdminOptions {
  readonly name?: string;
  readonly limit?: readonly WrittenLimit[];
  readonly userLimit?: readonly WrittenLimit[];
  readonly requireUser?: boolean;
}

export function registerGroupCommands(program: Command, host: CommandHost): void {
  const commands = program.command('group').description('groups of keys: projects, teams');

  withGroupOptions(commands.command('create'))
    .description('create a group of keys')
    .requiredOption('--account <id>', 'whose group it is')
    .requiredOption('--name <name>', 'its name')
    .action((options: GroupOptions & { readonly account: string }) =>
      runAdminCommand(host, options, async (client) => {
        const path = `/accounts/${encodeURIComponent(options.account)}/groups`;
        return printGroup(await client.call<GroupData>('POST', path, controlsOf(options)));
      }),
    );

  withAdminOptions(commands.command('list'))
    .description('list the groups of an account, the oldest first')
    .requiredOption('--account <id>', 'whose groups')
    .action((options: AdminOptions & { readonly account: string }) =>
      runAdminCommand(host, options, async (client) => {
        const path = `/accounts/${encodeURIComponent(options.account)}/groups`;
        const { data } = await client.call<{ readonly data: readonly GroupData[] }>('GET', path);
        return { data, text: printGroups(data) };
      }),
    );

  withAdminOptions(commands.command('show <id>'))
    .description('show a group')
    .action((id: string, options: AdminOptions) =>
      runAdminCommand(host, options, async (client) =>
        printGroup(await client.call<GroupData>('GET', pathOf(id))),
      ),
    );

  withGroupOptions(commands.command('set <id>').option('--name <name>', 'its name'))
    .description('change a group')
    .action((id: string, options: GroupOptions, command: Command) => {
      const controls = controlsOf(options);
      if (Object.values(controls).every((value) => value === undefined)) {
        command.error('error: there is nothing to set: see --help');
      }
      return runAdminCommand(host, options, async (client) =>
        printGroup(await client.call<GroupData>('PATCH', pathOf(id), controls)),
      );
    });
}

function withGroupOptions(command: Command): Command {
  return withAdminOptions(
    command
      .option(
        '--limit <limit>',
        'of all its keys: tokens=400000/1m; may be repeated',
        parseListOption,
      )
      .option('--user-limit <limit>', 'of each end user; may be repeated', parseListOption)
      .option(
        '--require-user <yes|no>',
        'whether each request must name its end user',
        parseYesOrNo,
      ),
  );
}

function controlsOf({ name, limit, userLimit, requireUser }: GroupOptions) {
  return { name, limits: limit, user_limits: userLimit, require_user: requireUser };
}

function pathOf(id: string): string {
  return `/groups/${encodeURIComponent(id)}`;
}

function printGroup(group: GroupData): Printout {
  const text = printTable([
    ['id', group.id],
    ['account', group.account],
    ['name', group.name],
    ['limits', formatWrittenList(group.limits)],
    ['user limits', formatWrittenList(group.user_limits)],
    ['require user', group.require_user ? 'yes' : 'no'],
    ['created', group.created_at],
    ['version', String(group.version ?? ABSENT)],
  ]);
  return { data: group, text };
}

function printGroups(groups: readonly GroupData[]): string {
  return printTable([
    ['ID', 'NAME', 'LIMITS', 'USER LIMITS', 'CREATED'],
    ...groups.map(({ id, name, limits, user_limits: ofUsers, created_at: created }) => [
      ...[id, name, formatWrittenList(limits), formatWrittenList(ofUsers), created],
    ]),
  ]);
}
