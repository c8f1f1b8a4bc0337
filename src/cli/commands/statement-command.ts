import { type Command, InvalidArgumentError, Option } from 'commander';
import { BOOKS_TIME_MAX_MS } from '../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { printTable } from '../print-table.ts';

interface StatementOptions extends AdminOptions {
  readonly month: string;
  readonly csv?: boolean;
  readonly html?: boolean;
}

interface UsedData {
  readonly requests: number;
  readonly charged: number;
  readonly model?: string;
  readonly key?: string;
  readonly key_name?: string | null;
}

interface StatementData {
  readonly account: string;
  readonly account_name: string | null;
  readonly month: string;
  readonly opening_balance: number;
  readonly closing_balance: number;
  readonly is_closed: boolean;
  /** Undefined from nodes of earlier versions. */
  readonly incomplete?: { readonly gaps: number; readonly damaged_lines: number } | null;
  readonly payments: readonly {
    readonly time: string;
    readonly id: string;
    readonly kind: string;
    readonly amount: number;
    readonly note: string | null;
  }[];
  readonly paid: number;
  readonly charged: number;
  readonly by_model: readonly UsedData[];
  readonly by_key: readonly UsedData[];
}

export function registerStatementCommand(program: Command, host: CommandHost): void {
  withAdminOptions(program.command('statement <id>'))
    .description('what an account had, paid and used in one month')
    .requiredOption('--month <yyyy-mm>', 'which month', parseMonth)
    .addOption(new Option('--csv', 'print CSV').conflicts(['json', 'html']))
    .addOption(new Option('--html', 'print a page of HTML').conflicts('json'))
    .action((id: string, options: StatementOptions) =>
      runAdminCommand(host, options, async ({ call, read }) => {
        const path = `/accounts/${encodeURIComponent(id)}/statements/${options.month}`;
        const format = options.csv === true ? 'csv' : options.html === true ? 'html' : undefined;
        if (format !== undefined) {
          for await (const lines of read(`${path}?format=${format}`)) {
            await host.terminal.outPaced(lines);
          }
          return undefined;
        }
        const data = await call<StatementData>('GET', path, undefined, BOOKS_TIME_MAX_MS);
        return { data, text: printStatement(data) };
      }),
    );
}

function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('must be a month such as 2027-01.');
}

function printStatement(statement: StatementData): string {
  const { account, account_name: name, month, payments, incomplete } = statement;
  return [
    `${name ?? account} (${account}), ${month}${statement.is_closed ? '' : ', so far'}`,
    ...(incomplete ? [describeMissing(incomplete)] : []),
    printTable([
      ['opening balance', String(statement.opening_balance)],
      ['paid in', String(statement.paid)],
      ['charged', String(statement.charged)],
      ['closing balance', String(statement.closing_balance)],
    ]),
    printTable([
      ['PAID AT', 'ID', 'KIND', 'AMOUNT', 'NOTE'],
      ...payments.map(({ time, id, kind, amount, note }) => [
        ...[time, id, kind, String(amount), note ?? ''],
      ]),
    ]),
    printUsed(
      'MODEL',
      statement.by_model.map((row) => [row.model ?? '', row]),
    ),
    printUsed(
      'KEY',
      statement.by_key.map((row) => [row.key_name ?? row.key ?? '', row]),
    ),
  ].join('\n\n');
}

function describeMissing({
  gaps,
  damaged_lines: damaged,
}: NonNullable<StatementData['incomplete']>) {
  return `entries may be missing (gaps: ${gaps}, damaged entries: ${damaged})`;
}

function printUsed(head: string, rows: readonly (readonly [string, UsedData])[]): string {
  return printTable([
    [head, 'REQUESTS', 'CHARGED'],
    ...rows.map(([name, { requests, charged }]) => [name, String(requests), String(charged)]),
  ]);
}
