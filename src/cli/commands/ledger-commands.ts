import { type Command, Option } from 'commander';
import type { CommandHost } from '../admin-command.ts';
import { runLedgerExportCommand } from './ledger-export-command.ts';
import { runLedgerVerifyCommand } from './ledger-verify-command.ts';

interface LedgerOptions {
  readonly config?: string;
  readonly dataDir: readonly string[];
}

export function registerLedgerCommands(program: Command, host: CommandHost): void {
  const { terminal, setExitCode } = host;
  const group = program.command('ledger').description('the ledger: every change of a balance');

  withPlaceOptions(group.command('verify'))
    .description('recompute every balance from the ledger and compare')
    .option('--json', 'print JSON')
    .option('--repair', 'make what accounts and keys hold fit the requests that run')
    .action(
      async (options: LedgerOptions & { readonly json?: boolean; readonly repair?: boolean }) => {
        const place = { configPath: options.config, dataDirs: options.dataDir };
        const [json, isRepair] = [options.json === true, options.repair === true];
        setExitCode(await runLedgerVerifyCommand({ ...place, json, isRepair, ...terminal }));
      },
    );

  withPlaceOptions(group.command('export'))
    .description('print every entry of the ledger once')
    .option('--account <id>', 'of this account only')
    .addOption(new Option('--format <format>', 'how').choices(['ndjson', 'csv']).default('ndjson'))
    .addOption(new Option('--json', 'the same as --format ndjson').implies({ format: 'ndjson' }))
    .action(
      async (
        options: LedgerOptions & { readonly account?: string; readonly format: 'ndjson' | 'csv' },
      ) => {
        const { account, format } = options;
        const place = { configPath: options.config, dataDirs: options.dataDir };
        const out = terminal.outPaced;
        setExitCode(await runLedgerExportCommand({ ...place, account, format, ...terminal, out }));
      },
    );
}

function withPlaceOptions(command: Command): Command {
  return command
    .option('--config <file>', 'settings file (default: TOLLGATE_CONFIG, else the defaults)')
    .option(
      '--data-dir <folder>',
      'where a node has exported to; once for each node (default: that of the settings)',
      (folder: string, others: readonly string[]) => [...others, folder],
      [],
    );
}
