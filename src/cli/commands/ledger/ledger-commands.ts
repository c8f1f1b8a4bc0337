import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandHost } from '../../admin-command.ts';
import { withConfigOption } from '../../with-config-option.ts';
import type { AcceptOrder } from './accept-findings.ts';
import type { Repair } from './ledger-verify-command.ts';

interface VerifyOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly full?: boolean;
  readonly repair?: Repair;
  readonly accept?: readonly string[];
  readonly reason?: string;
}

interface ExportOptions {
  readonly config?: string;
  readonly account?: string;
  readonly format: 'ndjson' | 'csv';
}

const REASON_CHARS_MAX = 500;

export function registerLedgerCommands(program: Command, host: CommandHost): void {
  const { terminal, setExitCode } = host;
  const group = program.command('ledger').description('the ledger: every change of a balance');

  withConfigOption(group.command('verify'))
    .description('compare Redis with the books, and the books with themselves')
    .option('--full', 'read again what was verified before')
    .option('--json', 'print JSON')
    .addOption(
      new Option(
        '--repair [what]',
        'make what accounts and keys hold fit the requests that run; all: and balances fit the books',
      )
        .choices(['held', 'all'])
        .preset('held'),
    )
    .addOption(
      new Option(
        '--accept <what...>',
        'leave differences as they are and count them no more: those of an account, missing, damaged',
      ).conflicts('repair'),
    )
    .option('--reason <text>', 'why they are accepted', parseReason)
    .action(async (options: VerifyOptions, command: Command) => {
      const { config: configPath, repair } = options;
      const [json, isFull] = [options.json === true, options.full === true];
      const order = { configPath, json, isFull, repair, accept: readAccept(options, command) };
      const { runLedgerVerifyCommand } = await import('./ledger-verify-command.ts');
      setExitCode(await runLedgerVerifyCommand({ ...order, ...terminal }));
    });

  withConfigOption(group.command('export'))
    .description('print every entry of the ledger once')
    .option('--account <id>', 'of this account only')
    .addOption(
      new Option('--format <format>', 'format of the output')
        .choices(['ndjson', 'csv'])
        .default('ndjson'),
    )
    .addOption(new Option('--json', 'the same as --format ndjson').implies({ format: 'ndjson' }))
    .action(async ({ config: configPath, account, format }: ExportOptions) => {
      const order = { configPath, account, format };
      const out = terminal.outPaced;
      const { runLedgerExportCommand } = await import('./ledger-export-command.ts');
      setExitCode(await runLedgerExportCommand({ ...order, ...terminal, out }));
    });
}

function parseReason(text: string): string {
  const reason = text.trim();
  if (reason.length >= 1 && reason.length <= REASON_CHARS_MAX) return reason;
  throw new InvalidArgumentError(`It must be 1 to ${REASON_CHARS_MAX} characters.`);
}

function readAccept(
  { accept: names, reason }: VerifyOptions,
  command: Command,
): AcceptOrder | undefined {
  if (names === undefined && reason === undefined) return undefined;
  if (reason === undefined) return command.error('error: --accept needs a --reason');
  if (names === undefined) return command.error('error: --reason needs --accept');
  return { names, reason };
}
