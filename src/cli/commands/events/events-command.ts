import type { Command } from 'commander';
import type { AdminClient } from '../../admin-client.ts';
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

interface EventsData {
  readonly data: readonly EventData[];
  readonly next: string | null;
}

interface EventsOptions extends AdminOptions {
  readonly account?: string;
  readonly type?: string;
  readonly limit?: number;
}

const LIMIT = 100;
const PAGE_MAX = 1_000;

export function registerEventsCommand(program: Command, host: CommandHost): void {
  withAdminOptions(program.command('events'))
    .description('what limits and balances have told, the newest first')
    .option('--account <id>', 'of this account and its keys')
    .option('--type <type>', 'such as limit.reached or balance.low')
    .option('--limit <number>', `how many at most (default: ${LIMIT})`, parseCount)
    .action((options: EventsOptions) =>
      runAdminCommand(host, options, async (client) => {
        const events = await readEvents(client, options);
        return { data: events, text: printEvents(events) };
      }),
    );
}

/** Reads page by page. The list itself is bounded. */
async function readEvents(client: AdminClient, options: EventsOptions): Promise<EventData[]> {
  const { account, type, limit: countMax = LIMIT } = options;
  const events: EventData[] = [];
  let before: string | null = '';
  while (before !== null && events.length < countMax) {
    const limit = String(Math.min(countMax - events.length, PAGE_MAX));
    const query = new URLSearchParams({ limit });
    for (const [name, value] of Object.entries({ account, type, before })) {
      if (value) query.set(name, value);
    }
    const page: EventsData = await client.call('GET', `/limit-events?${query}`);
    events.push(...page.data);
    before = page.next;
  }
  return events;
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
