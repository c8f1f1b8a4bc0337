import { type Command, Option } from 'commander';
import { BOOKS_TIME_MAX_MS, readPages } from '../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { parseCount, parseTime } from '../parse-values.ts';
import { printReceipt, type ReceiptData } from '../print-receipt.ts';
import { ABSENT, printTable } from '../print-table.ts';

const LIMIT = 50;

interface ListedRequest {
  readonly id: string;
  readonly time: string;
  readonly account: string;
  readonly account_name: string | null;
  readonly key: string;
  readonly model: string;
  readonly upstream: string | null;
  readonly status: number | null;
  readonly outcome: string | null;
  readonly charged: number;
  readonly total_ms: number | null;
}

interface ListOptions extends AdminOptions {
  readonly limit?: number;
  readonly [filter: string]: unknown;
}

/** The names of options, and what the admin API calls them. */
const FILTERS = {
  ...{ account: 'account', key: 'key', group: 'group', endUser: 'end_user', kind: 'kind' },
  ...{ model: 'model', upstream: 'upstream' },
  ...{ status: 'status', outcome: 'outcome', from: 'from', to: 'to' },
  ...{ chargedMin: 'charged_min', chargedMax: 'charged_max' },
  ...{ durationMin: 'duration_min', durationMax: 'duration_max' },
} as const;

export function registerRequestsCommands(program: Command, host: CommandHost): void {
  const group = program.command('requests').description('requests and their receipts');

  withAdminOptions(group.command('list'))
    .description('requests, the newest first')
    .option('--account <id>', 'of this account')
    .option('--key <id>', 'of this key')
    .option('--group <id>', 'of this group')
    .option('--end-user <id>', 'of this end user, as usage by end_user has it')
    .option('--model <id>', 'of this model')
    .option('--upstream <name>', 'that this upstream answered')
    .option('--status <status>', 'with this status, such as 429, or class, such as 5xx')
    .addOption(
      new Option('--outcome <outcome>', 'with this outcome').choices([
        ...['complete', 'failed', 'left', 'undelivered', 'refused'],
      ]),
    )
    .addOption(
      new Option('--kind <kind>', 'of this kind').choices([
        ...['charge', 'release', 'late', 'orphan', 'expired', 'refused'],
      ]),
    )
    .option('--charged-min <credits>', 'that cost as much or more')
    .option('--charged-max <credits>', 'that cost as much or less')
    .option('--duration-min <ms>', 'that took as long or longer')
    .option('--duration-max <ms>', 'that took as long or less')
    .option('--from <time>', 'entered at this time or later', parseTime)
    .option('--to <time>', 'entered before this time', parseTime)
    .option('--limit <number>', `how many at most (default: ${LIMIT})`, parseCount)
    .action((options: ListOptions) =>
      runAdminCommand(host, options, async (client) => {
        const filters = Object.entries(FILTERS).map(([option, name]) => [name, options[option]]);
        const query = Object.fromEntries(filters);
        const { limit: countMax = LIMIT } = options;
        const list = { query, cursor: 'before', countMax } as const;
        const requests: ListedRequest[] = [];
        for await (const page of readPages<ListedRequest>(client, '/requests', list)) {
          requests.push(...page);
        }
        return { data: requests, text: printRequests(requests) };
      }),
    );

  withAdminOptions(group.command('show <id>'))
    .description('the receipt of a request, by the request-id of its answer')
    .action((id: string, options: AdminOptions) =>
      runAdminCommand(host, options, async ({ call }) => {
        const path = `/requests/${encodeURIComponent(id)}`;
        const receipt = await call<ReceiptData>('GET', path, undefined, BOOKS_TIME_MAX_MS);
        return { data: receipt, text: printReceipt(receipt) };
      }),
    );
}

function printRequests(requests: readonly ListedRequest[]): string {
  return printTable([
    ['TIME', 'ID', 'ACCOUNT', 'KEY', 'MODEL', 'UPSTREAM', 'STATUS', 'OUTCOME', 'CHARGED', 'MS'],
    ...requests.map((request) => [
      ...[request.time, request.id, request.account_name ?? request.account, request.key],
      ...[request.model, request.upstream ?? ABSENT, String(request.status ?? ABSENT)],
      ...[request.outcome ?? ABSENT, String(request.charged), String(request.total_ms ?? ABSENT)],
    ]),
  ]);
}
