import { type Command, Option } from 'commander';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { parseTime } from '../parse-values.ts';
import { printTable } from '../print-table.ts';

/** The node may have to read the whole ledger. */
const ANSWER_TIME_MAX_MS = 600_000;

interface UsageOptions extends AdminOptions {
  readonly account?: string;
  readonly key?: string;
  readonly from?: string;
  readonly to?: string;
  readonly by?: 'day' | 'model' | 'key';
}

interface SumsData {
  readonly requests: number;
  readonly charged: number;
  readonly short: number;
  readonly searches: number;
  readonly tokens: {
    readonly input: number;
    readonly cache_read: number;
    readonly cache_write_5m: number;
    readonly cache_write_1h: number;
    readonly output: number;
  };
}

interface RowData extends SumsData {
  readonly day?: string;
  readonly model?: string;
  readonly account?: string;
  readonly key?: string;
}

interface UsageData {
  readonly data: readonly RowData[];
  readonly total: SumsData;
  readonly paid: number | null;
  readonly is_complete: boolean;
}

export function registerUsageCommand(program: Command, host: CommandHost): void {
  withAdminOptions(program.command('usage'))
    .description('what was used and charged, summed up from the ledger')
    .option('--account <id>', 'of this account only')
    .option('--key <id>', 'of this key only')
    .option('--from <time>', 'entered at this time or later', parseTime)
    .option('--to <time>', 'entered before this time', parseTime)
    .addOption(new Option('--by <what>', 'a row for each').choices(['day', 'model', 'key']))
    .action((options: UsageOptions) =>
      runAdminCommand(host, options, async (client) => {
        const path = `/usage?${queryOf(options)}`;
        const usage = await client.call<UsageData>('GET', path, undefined, ANSWER_TIME_MAX_MS);
        if (!usage.is_complete) {
          host.terminal.err(
            'tollgate: the ledger is not complete on this node; tollgate ledger verify names what is missing',
          );
          host.setExitCode(1);
        }
        return { data: usage, text: printUsage(usage) };
      }),
    );
}

function queryOf({ account, key, from, to, by }: UsageOptions): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ account, key, from, to, by })) {
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

function printUsage({ data, total, paid }: UsageData): string {
  const names = (['day', 'model', 'account', 'key'] as const).filter(
    (name) => data[0]?.[name] !== undefined,
  );
  const first = names.length === 0 ? [''] : names;
  const table = printTable([
    [...first, 'requests', 'input', 'cached', 'output', 'searches', 'charged', 'short'],
    ...data.map((row) => [...names.map((name) => row[name] ?? ''), ...printSums(row)]),
    ['total', ...first.slice(1).map(() => ''), ...printSums(total)],
  ]);
  return paid === null || paid === 0 ? table : `${table}\npaid in: ${paid}`;
}

function printSums({ requests, tokens, searches, charged, short }: SumsData): string[] {
  const cached = tokens.cache_read + tokens.cache_write_5m + tokens.cache_write_1h;
  return [requests, tokens.input, cached, tokens.output, searches, charged, short].map(String);
}
