import type { Command } from 'commander';
import { readPages } from '../../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../../admin-command.ts';
import { parseCount } from '../../parse-values.ts';
import { ABSENT, printTable } from '../../print-table.ts';

interface EventData {
  readonly at: string;
  readonly type: string;
  readonly account: string;
  readonly key: string | null;
  readonly level: string;
  readonly subject: string;
  readonly unit: string | null;
  readonly window: string | null;
  readonly amount: number;
  readonly counted: number;
  readonly held: number;
}

interface EventsOptions extends AdminOptions {
  readonly account?: string;
  readonly type?: string;
  readonly limit?: number;
}

const LIMIT = 100;

export function registerEventsCommand(program: Command, host: CommandHost): void {
  withAdminOptions(program.command('events'))
    .description('events of limits and balances, newest first')
    .option('--account <id>', 'of this account and its keys')
    .option('--type <type>', 'such as limit.reached or balance.low')
    .option('--limit <number>', `how many at most (default: ${LIMIT})`, parseCount)
    .action((options: EventsOptions) =>
      runAdminCommand(host, options, async (client) => {
        const { account, type, limit: countMax = LIMIT } = options;
        const list = { query: { account, type }, cursor: 'before', countMax } as const;
        const events: EventData[] = [];
        for await (const page of readPages<EventData>(client, '/limit-events', list)) {
          events.push(...page);
        }
        return { data: events, text: printEvents(events) };
      }),
    );
}

function printEvents(events: readonly EventData[]): string {
  return printTable([
    [
      'AT',
      'TYPE',
      'ACCOUNT',
      'KEY',
      'OF',
      'SUBJECT',
      'UNIT',
      'WINDOW',
      'AMOUNT',
      'COUNTED',
      'HELD',
    ],
    ...events.map((event) => [
      ...[event.at, event.type, event.account, event.key ?? ABSENT, event.level, event.subject],
      ...[event.unit ?? ABSENT, event.window ?? ABSENT],
      ...[String(event.amount), String(event.counted), String(event.held)],
    ]),
  ]);
}
