import type { Command } from 'commander';
import type { WrittenLimit } from '../../config/schema/limit-schemas.ts';
import type { AdminClient } from '../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  type Printout,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { formatWritten, parseLimitOption } from '../limit-option.ts';
import { printTable } from '../print-table.ts';

interface UsedLimit extends WrittenLimit {
  readonly level: string;
  readonly used: number;
  readonly held: number;
  readonly reset_at: string;
}

interface ShowOptions extends AdminOptions {
  readonly user?: string;
}

export function registerLimitsCommands(program: Command, host: CommandHost): void {
  const group = program.command('limits').description('lists of limits: of accounts, groups, keys');

  withAdminOptions(group.command('show <id>'))
    .description(
      'show all limits that the keys of an account or a group meet, or a key, with their use',
    )
    .option('--user <name>', 'also show the limits of this end user of the key')
    .action((id: string, options: ShowOptions) =>
      runAdminCommand(host, options, (client) => showLimits(client, id, options.user)),
    );

  withAdminOptions(group.command('set <id> <limits...>'))
    .description('replace the list of an account, a group or a key; none empties it')
    .action((id: string, texts: readonly string[], options: AdminOptions, command: Command) => {
      const limits = readLimits(texts, command);
      return runAdminCommand(host, options, async (client) => {
        await client.call('PATCH', pathOf(id), { limits });
        return showLimits(client, id);
      });
    });
}

function readLimits(texts: readonly string[], command: Command): readonly WrittenLimit[] {
  if (texts.length === 1 && texts[0] === 'none') return [];
  try {
    return texts.flatMap((text) => parseLimitOption(text));
  } catch (error) {
    return command.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function showLimits(client: AdminClient, id: string, user?: string): Promise<Printout> {
  const query = user === undefined ? '' : `?user=${encodeURIComponent(user)}`;
  const { limits } = await client.call<{ readonly limits: readonly UsedLimit[] }>(
    'GET',
    `${pathOf(id)}/limits${query}`,
  );
  const rows = limits.map((limit) => [
    ...[limit.level, formatWritten(limit), String(limit.used)],
    ...[String(limit.held), limit.reset_at],
  ]);
  return { data: limits, text: printTable([['OF', 'LIMIT', 'USED', 'HELD', 'EMPTY'], ...rows]) };
}

function pathOf(id: string): string {
  const kind = id.startsWith('acct_') ? 'accounts' : id.startsWith('grp_') ? 'groups' : 'keys';
  return `/${kind}/${encodeURIComponent(id)}`;
}
