import { Command, CommanderError } from 'commander';
import { packageVersion } from '../config/package-version.ts';
import type { CommandHost } from './admin-command.ts';
import { registerAccountCommands } from './commands/account-commands.ts';
import { registerAuditCommands } from './commands/audit-commands.ts';
import { registerBenchCommand } from './commands/bench-command.ts';
import { registerBooksCommands } from './commands/books/books-commands.ts';
import { registerCatalogueCommand } from './commands/catalogue-command.ts';
import { runCheckCommand } from './commands/check-command.ts';
import { registerCompletionCommand } from './commands/completion-command.ts';
import { registerCreditsCommands } from './commands/credits-commands.ts';
import { registerEventsCommand } from './commands/events/events-command.ts';
import { registerWebhooksCommands } from './commands/events/webhooks-commands.ts';
import { registerGroupCommands } from './commands/group-commands.ts';
import { registerKeyCommands } from './commands/key-commands.ts';
import { registerLedgerCommands } from './commands/ledger/ledger-commands.ts';
import { registerLimitsCommands } from './commands/limits-commands.ts';
import { registerModelsCommand } from './commands/models-command.ts';
import { registerNodesCommand } from './commands/nodes-command.ts';
import { registerOperatorCommands } from './commands/operator-commands.ts';
import { registerReloadCommand } from './commands/reload-command.ts';
import { registerRequestsCommands } from './commands/requests-commands.ts';
import { type RunNode, runStartCommand } from './commands/start-command.ts';
import { registerStatementCommand } from './commands/statement-command.ts';
import { registerTopCommand } from './commands/top-command.ts';
import { registerUsageCommand } from './commands/usage-command.ts';
import { createTerminal } from './terminal.ts';
import { withConfigOption } from './with-config-option.ts';

const EXIT_OK = 0;
const EXIT_USAGE = 2;

/** All commands except `start`, `check` and `doctor`, in the order of the help. */
const REGISTRATIONS: readonly ((program: Command, host: CommandHost) => void)[] = [
  registerAccountCommands,
  registerKeyCommands,
  registerGroupCommands,
  registerLimitsCommands,
  registerCreditsCommands,
  registerUsageCommand,
  registerStatementCommand,
  registerLedgerCommands,
  registerBooksCommands,
  registerModelsCommand,
  registerCatalogueCommand,
  registerRequestsCommands,
  registerNodesCommand,
  registerTopCommand,
  registerEventsCommand,
  registerWebhooksCommands,
  registerAuditCommands,
  registerOperatorCommands,
  registerReloadCommand,
  registerBenchCommand,
  registerCompletionCommand,
];

/**
 * Runs one command line and returns the exit code: 0 for success, 1 for failure, 2 for wrong usage.
 */
export async function runCli(argv: readonly string[], runNode: RunNode): Promise<number> {
  let exitCode = EXIT_OK;
  const terminal = createTerminal();
  const program = new Command('tollgate')
    .description('HTTP gateway in front of language-model backends')
    .version(packageVersion())
    .exitOverride();

  withConfigOption(program.command('start'))
    .description('run a node: primary, workers and, without redis.url, a Redis server of its own')
    .option('--install-redis', 'install a missing Redis server with the package manager')
    .option('--no-install', 'install nothing, whatever --install-redis says')
    .action(async (options: { config?: string; installRedis?: boolean; install: boolean }) => {
      const installsRedis = options.installRedis === true && options.install;
      const { config: configPath } = options;
      exitCode = await runStartCommand({ runNode, configPath, installsRedis, ...terminal });
    });

  withConfigOption(program.command('check'))
    .description('print the effective settings, or every problem in them')
    .option('--json', 'print JSON, the problems too')
    .action((options: { config?: string; json?: boolean }) => {
      const json = options.json === true;
      exitCode = runCheckCommand({ configPath: options.config, json, ...terminal });
    });

  withConfigOption(program.command('doctor'))
    .description('check everything that a node needs: machine, Redis, books, upstreams')
    .option('--json', 'print JSON')
    .action(async (options: { config?: string; json?: boolean }) => {
      const json = options.json === true;
      const { runDoctorCommand } = await import('./commands/doctor-command.ts');
      exitCode = await runDoctorCommand({ configPath: options.config, json, ...terminal });
    });

  const host: CommandHost = {
    terminal,
    setExitCode: (code) => {
      exitCode = code;
    },
  };
  for (const register of REGISTRATIONS) register(program, host);

  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version end with code 0. Every other error of the parser is a wrong command line.
    return error.exitCode === EXIT_OK ? EXIT_OK : EXIT_USAGE;
  }
  return exitCode;
}
