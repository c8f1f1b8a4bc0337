import type { Command } from 'commander';
import type { WrittenLimit } from '../../config/schema/limit-schemas.ts';
import { formatWindow } from '../../limits/parse-window.ts';
import type { AdminClient } from '../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  type Printout,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { formatWritten, parseLimitOption } from '../limit-option.ts';
import { parseCount } from '../parse-values.ts';
import { ABSENT, printTable } from '../print-table.ts';

interface MetLimit extends Omit<WrittenLimit, 'window'> {
  readonly level: string;
  /** Null if only running requests count. */
  readonly window: WrittenLimit['window'] | null;
  readonly used: number;
  readonly held: number;
  readonly reset_at: string | null;
}

/** Those of kind `list` are set by `limits set`. */
interface NamedLimit extends MetLimit {
  readonly kind: 'list' | 'rate' | 'monthly_cap' | 'concurrency';
}

interface Rate {
  readonly limit: number;
  readonly remaining: number;
  readonly reset_at: string;
}

interface SharedAnswer {
  readonly object?: undefined;
  readonly rate_window_seconds: number;
  /** The rate of the plan of the account. */
  readonly rate: Rate;
  readonly limits: readonly MetLimit[];
}

interface KeyAnswer extends Pick<SharedAnswer, 'rate_window_seconds' | 'limits'> {
  readonly object: 'key';
  readonly rate: Rate | null;
  readonly concurrency: number | null;
  readonly in_flight: number;
  readonly month: string;
  readonly monthly_cap: number | null;
  readonly spent_this_month: number;
  readonly held: number;
  readonly account: { readonly rate: Rate };
}

interface ShowOptions extends AdminOptions {
  readonly user?: string;
}

interface SetOptions extends AdminOptions {
  readonly baseVersion?: number;
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
    .option(
      '--base-version <n>',
      'only if it still has this version, as account, group and key show it',
      parseCount,
    )
    .action((id: string, texts: readonly string[], options: SetOptions, command: Command) => {
      const limits = readLimits(texts, command);
      return runAdminCommand(host, options, async (client) => {
        await client.call('PATCH', pathOf(id), { limits, base_version: options.baseVersion });
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
  const path = `${pathOf(id)}/limits${query}`;
  const limits = listLimits(await client.call<SharedAnswer | KeyAnswer>('GET', path));
  const rows = limits.map((limit) => [
    ...[limit.level, nameLimit(limit), String(limit.used)],
    ...[String(limit.held), limit.reset_at ?? ABSENT],
  ]);
  return { data: limits, text: printTable([['OF', 'LIMIT', 'USED', 'HELD', 'EMPTY'], ...rows]) };
}

/** All limits that requests meet, from the key to the account. */
function listLimits(answer: SharedAnswer | KeyAnswer): readonly NamedLimit[] {
  const lists = answer.limits.map((limit): NamedLimit => ({ ...limit, kind: 'list' }));
  const window = formatWindow(answer.rate_window_seconds * 1_000);
  const ofRate = (level: string, { limit, remaining, reset_at }: Rate): NamedLimit => ({
    ...{ level, kind: 'rate', unit: 'requests', window, amount: limit, action: 'block' },
    ...{ used: limit - remaining, held: 0, reset_at },
  });
  if (answer.object !== 'key') return [...lists, ofRate('account', answer.rate)];
  return [
    ...(answer.rate === null ? [] : [ofRate('key', answer.rate)]),
    ...listControls(answer),
    ...lists,
    ofRate('account', answer.account.rate),
  ];
}

function listControls(key: KeyAnswer): readonly NamedLimit[] {
  const { concurrency, in_flight: running, monthly_cap: cap, spent_this_month: used, held } = key;
  const block = { level: 'key', action: 'block' } as const;
  const monthly = { ...block, kind: 'monthly_cap', unit: 'credits', window: 'month' } as const;
  const atOnce = { ...block, kind: 'concurrency', unit: 'requests', window: null } as const;
  return [
    ...(cap === null
      ? []
      : [{ ...monthly, amount: cap, used, held, reset_at: endOfMonth(key.month) }]),
    ...(concurrency === null
      ? []
      : [{ ...atOnce, amount: concurrency, used: running, held: 0, reset_at: null }]),
  ];
}

/** The end of a month such as `202611`. */
function endOfMonth(month: string): string {
  return new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4)))).toISOString();
}

/** A limit of a list as `limits set` takes it. */
function nameLimit({ kind, ...limit }: NamedLimit): string {
  const { unit, amount, window, action } = limit;
  if (window === null) return `concurrency=${amount}`;
  const named = formatWritten({ unit, amount, window, action });
  return kind === 'list' ? named : `${named} (${kind.replace('_', ' ')})`;
}

function pathOf(id: string): string {
  const kind = id.startsWith('acct_') ? 'accounts' : id.startsWith('grp_') ? 'groups' : 'keys';
  return `/${kind}/${encodeURIComponent(id)}`;
}
