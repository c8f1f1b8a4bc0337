import type { Command } from 'commander';
import { type AdminClient, readPages } from '../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { parseCount, parseTime } from '../parse-values.ts';
import { ABSENT, printTable } from '../print-table.ts';

interface AuditData {
  readonly id: string;
  readonly at: string;
  readonly what: string;
  readonly who: {
    readonly via: string;
    readonly token: string | null;
    readonly address: string | null;
    /** Absent if the node runs an earlier version. */
    readonly operator?: { readonly id: string; readonly name: string } | null;
  };
  readonly account: string | null;
  readonly key: string | null;
  readonly outcome: string;
  readonly after: { readonly id?: string } | null;
  /** Absent if the node runs an earlier version. */
  readonly changes?: readonly ChangeData[];
}

interface ChangeData {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

interface AuditOptions extends AdminOptions {
  readonly from?: string;
  readonly to?: string;
  readonly account?: string;
  readonly key?: string;
  readonly limit?: number;
}

const LIMIT = 100;
/** Only the first changes are shown, since a new key has a dozen fields. */
const CHANGES_SHOWN_MAX = 4;
const CHANGE_CHARS_MAX = 120;

export function registerAuditCommands(program: Command, host: CommandHost): void {
  const group = withAuditOptions(program.command('audit'))
    .description('what operators changed, the newest first')
    .option('--limit <number>', `how many at most (default: ${LIMIT})`, parseCount)
    .action((options: AuditOptions) =>
      runAdminCommand(host, options, async (client) => {
        const entries: AuditData[] = [];
        const { limit = LIMIT } = options;
        for await (const page of readEntries(client, options, limit)) entries.push(...page);
        return { data: entries, text: printEntries(entries) };
      }),
    );

  withAuditOptions(group.command('export'))
    .description('print all of it as NDJSON, the newest first')
    .action((_: AuditOptions, command: Command) => {
      // Both commands have these options. The outer one gets the options that come before `export`.
      const options = command.optsWithGlobals<AuditOptions>();
      return exportEntries(host, options);
    });
}

function withAuditOptions(command: Command): Command {
  return withAdminOptions(command)
    .option('--from <time>', 'not before', parseTime)
    .option('--to <time>', 'before', parseTime)
    .option('--account <id>', 'of this account and its keys')
    .option('--key <id>', 'of this key');
}

async function exportEntries(host: CommandHost, options: AuditOptions): Promise<void> {
  await runAdminCommand(host, options, async (client) => {
    for await (const page of readEntries(client, options)) {
      if (page.length === 0) continue;
      await host.terminal.outPaced(page.map((entry) => JSON.stringify(entry)).join('\n'));
    }
    return undefined;
  });
}

function readEntries(
  client: AdminClient,
  { from, to, account, key }: AuditOptions,
  countMax?: number,
) {
  const query = { from, to, account, key };
  return readPages<AuditData>(client, '/audit', { query, cursor: 'before', countMax });
}

function printEntries(entries: readonly AuditData[]): string {
  return printTable([
    [
      'AT',
      'WHAT',
      'ACCOUNT',
      'KEY OR GROUP',
      'BY',
      'VIA',
      'TOKEN',
      'ADDRESS',
      'OUTCOME',
      'CHANGES',
    ],
    ...entries.map((entry) => {
      const { at, what, account, who, outcome, changes } = entry;
      return [
        ...[at, what, account ?? ABSENT, keyOrGroupOf(entry), who.operator?.name ?? ABSENT],
        ...[who.via, who.token ?? ABSENT, who.address ?? ABSENT, outcome, printChanges(changes)],
      ];
    }),
  ]);
}

function keyOrGroupOf({ what, key, after }: AuditData): string {
  return key ?? (what.startsWith('group.') ? after?.id : undefined) ?? ABSENT;
}

function printChanges(changes: readonly ChangeData[] = []): string {
  const shown = changes.slice(0, CHANGES_SHOWN_MAX).map(({ field, before, after }) => {
    const from = before === null ? '' : `${printValue(before)} → `;
    return `${field}: ${from}${after === null ? 'none' : printValue(after)}`;
  });
  const left = changes.length - shown.length;
  return [...shown, ...(left > 0 ? [`${left} more`] : [])].join('; ') || ABSENT;
}

function printValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= CHANGE_CHARS_MAX ? text : `${text.slice(0, CHANGE_CHARS_MAX)}…`;
}
