import { type Command, Option } from 'commander';
import { BOOKS_TIME_MAX_MS } from '../../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../../admin-command.ts';
import { parseTime } from '../../parse-values.ts';
import { printTable } from '../../print-table.ts';
import { withConfigOption } from '../../with-config-option.ts';

/** Most of them open the books directly, and load only when they run. */
export function registerBooksCommands(program: Command, host: CommandHost): void {
  const group = program.command('books').description('the books: every entry of the ledger');
  registerStatus(group, host);
  registerClaim(group, host);
  registerCopy(group, host);
  registerImport(group, host);
  registerArchive(group, host);
  registerQuery(group, host);
}

interface ArchiveOptions {
  readonly config?: string;
  readonly settingsOnStdin?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

function registerArchive(group: Command, { terminal, setExitCode }: CommandHost): void {
  withConfigOption(group.command('archive'))
    .description('move the days that are older than books.keep into the archive')
    .option('--dry-run', 'print which days are due, and change nothing')
    .option('--json', 'print a line of JSON for each day')
    .addOption(new Option('--settings-on-stdin', 'as a node gives them').hideHelp())
    .action(async ({ config: configPath, settingsOnStdin, dryRun, json }: ArchiveOptions) => {
      const { readGivenSource, runBooksArchiveCommand } = await import(
        './books-archive-command.ts'
      );
      const readSource = settingsOnStdin === true ? readGivenSource : undefined;
      const order = { configPath, readSource, isDryRun: dryRun === true, json: json === true };
      // The progress shows a node that the command is still at work.
      const progress = settingsOnStdin === true ? terminal.out : terminal.progress;
      setExitCode(await runBooksArchiveCommand({ ...terminal, ...order, progress }));
    });
}

interface QueryOptions {
  readonly config?: string;
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

function registerQuery(group: Command, { terminal, setExitCode }: CommandHost): void {
  withConfigOption(group.command('query'))
    .description('answer a SELECT over all entries, in the books and in the archive')
    .argument('<sql>', 'such as "SELECT model, sum(charged) FROM entries GROUP BY model"')
    .option('--from <time>', 'entries from this moment on', parseTime)
    .option('--to <time>', 'entries before this moment', parseTime)
    .option('--json', 'print a line of JSON for each row')
    .addOption(new Option('--csv', 'print CSV').conflicts('json'))
    .action(async (sql: string, { config: configPath, from, to, json, csv }: QueryOptions) => {
      const { runBooksQueryCommand } = await import('./books-query-command.ts');
      const format = json === true ? 'jsonl' : csv === true ? 'csv' : 'table';
      setExitCode(await runBooksQueryCommand({ ...terminal, configPath, sql, from, to, format }));
    });
}

function registerStatus(group: Command, host: CommandHost): void {
  withAdminOptions(group.command('status'))
    .description('engine, size, days, and how far the books are')
    .action((options: AdminOptions) =>
      runAdminCommand(host, options, async ({ call }) => {
        const status = await call<object>('GET', '/books', undefined, BOOKS_TIME_MAX_MS);
        return { data: status, text: printStatus(status) };
      }),
    );
}

function printStatus(status: object): string {
  const rows = Object.entries(status).map(([name, value]) => [
    name.replaceAll('_', ' '),
    value !== null && typeof value === 'object'
      ? Object.entries(value)
          .map(([part, count]) => `${part} ${count ?? '-'}`)
          .join(', ')
      : String(value ?? '-'),
  ]);
  return printTable(rows);
}

interface ClaimOptions {
  readonly config?: string;
  readonly empty?: boolean;
  readonly json?: boolean;
}

function registerClaim(group: Command, { terminal, setExitCode }: CommandHost): void {
  withConfigOption(group.command('claim'))
    .description('let all entries go to the books of these settings from now on')
    .option('--empty', 'also to books that never had an entry, since the others are lost')
    .option('--json', 'print JSON')
    .action(async ({ config: configPath, empty, json }: ClaimOptions) => {
      const { runBooksClaimCommand } = await import('./books-claim-command.ts');
      const order = { configPath, json: json === true, takesEmpty: empty === true };
      setExitCode(await runBooksClaimCommand({ ...terminal, ...order }));
    });
}

interface CopyOptions {
  readonly config?: string;
  readonly json?: boolean;
}

function registerCopy(group: Command, { terminal, setExitCode }: CommandHost): void {
  withConfigOption(group.command('copy'))
    .description('copy the books of a file into the empty Postgres of these settings')
    .argument('[folder]', 'that has the file (default: books in the data folder)')
    .option('--json', 'print JSON')
    .action(async (folder: string | undefined, { config: configPath, json }: CopyOptions) => {
      const { runBooksCopyCommand } = await import('./books-copy-command.ts');
      const order = { configPath, folder, json: json === true };
      setExitCode(await runBooksCopyCommand({ ...terminal, ...order }));
    });
}

interface ImportOptions {
  readonly config?: string;
  readonly json?: boolean;
}

function registerImport(group: Command, { terminal, setExitCode }: CommandHost): void {
  withConfigOption(group.command('import'))
    .description('take the segments of earlier versions into the books')
    .argument('[folder...]', 'of segments, one of each node (default: ledger in the data folder)')
    .option('--json', 'print JSON')
    .action(async (folders: readonly string[], { config: configPath, json }: ImportOptions) => {
      const { runBooksImportCommand } = await import('./books-import-command.ts');
      const order = { configPath, folders, json: json === true };
      setExitCode(await runBooksImportCommand({ ...terminal, ...order }));
    });
}
