import { type Command, Option } from 'commander';
import { BOOKS_TIME_MAX_MS } from '../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { parseCount, parseTime } from '../parse-values.ts';
import { printTable } from '../print-table.ts';

interface UsageOptions extends AdminOptions {
  readonly account?: string;
  readonly key?: string;
  readonly group?: string;
  readonly endUser?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly from?: string;
  readonly to?: string;
  readonly by?: string;
  readonly top?: number;
  readonly csv?: boolean;
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
  readonly [name: string]: unknown;
}

interface UsageData {
  readonly data: readonly RowData[];
  readonly total: SumsData;
  readonly by: readonly string[];
  readonly paid: number | null;
  readonly books_until: string | null;
}

export function registerUsageCommand(program: Command, host: CommandHost): void {
  withAdminOptions(program.command('usage'))
    .description('what was used and charged, from the books')
    .option('--account <id>', 'of this account only')
    .option('--key <id>', 'of this key only')
    .option('--group <id>', 'of this group only')
    .option('--end-user <id>', 'of this end user only, as rows by end_user have it')
    .option('--model <id>', 'of this model only')
    .option('--upstream <name>', 'answered by this upstream only')
    .option('--from <time>', 'entered at this time or later', parseTime)
    .option('--to <time>', 'entered before this time', parseTime)
    .option(
      '--by <what>',
      'a row for each: one or two of day, hour, account, group, key, end_user, model, upstream',
    )
    .option('--top <number>', 'only those that were charged the most', parseCount)
    .addOption(new Option('--csv', 'print CSV').conflicts('json'))
    .action((options: UsageOptions) =>
      runAdminCommand(host, options, async ({ call, read }) => {
        const query = queryOf(options);
        if (options.csv === true) {
          for await (const lines of read(`/usage?${query}&format=csv`)) {
            await host.terminal.outPaced(lines);
          }
          return undefined;
        }
        const path = `/usage?${query}`;
        const usage = await call<UsageData>('GET', path, undefined, BOOKS_TIME_MAX_MS);
        return { data: usage, text: printUsage(usage) };
      }),
    );
}

function queryOf({ top, endUser, ...options }: UsageOptions): URLSearchParams {
  const { account, key, group, model, upstream, from, to, by } = options;
  const filters = { account, key, group, end_user: endUser, model, upstream, from, to };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filters, by, limit: top })) {
    if (value !== undefined) query.set(name, String(value));
  }
  if (top !== undefined) query.set('order', 'charged');
  return query;
}

function printUsage({ by, data, total, paid }: UsageData): string {
  const first = by.includes('key') && !by.includes('account') ? ['account', ...by] : by;
  const nameOf = (row: RowData, name: string) => String(row[`${name}_name`] ?? row[name] ?? '');
  const table = printTable([
    [...first, 'requests', 'input', 'cached', 'output', 'searches', 'charged', 'short'],
    ...data.map((row) => [...first.map((name) => nameOf(row, name)), ...printSums(row)]),
    ['total', ...first.slice(1).map(() => ''), ...printSums(total)],
  ]);
  return paid === null || paid === 0 ? table : `${table}\npaid in: ${paid}`;
}

function printSums({ requests, tokens, searches, charged, short }: SumsData): string[] {
  const cached = tokens.cache_read + tokens.cache_write_5m + tokens.cache_write_1h;
  return [requests, tokens.input, cached, tokens.output, searches, charged, short].map(String);
}
