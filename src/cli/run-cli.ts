import { Command, CommanderError } from 'commander';
import { packageVersion } from '../config/package-version.ts';
import { registerAccountCommands } from './account-commands.ts';
import type { CommandHost } from './admin-command.ts';
import { registerAuditCommands } from './audit-commands.ts';
import { registerBenchCommand } from './bench-command.ts';
import { runCheckCommand } from './check-command.ts';
import { registerCompletionCommand } from './completion-command.ts';
import { registerCreditsCommands } from './credits-commands.ts';
import { registerKeyCommands } from './key-commands.ts';
import { registerLedgerCommands } from './ledger-commands.ts';
import { registerModelsCommand } from './models-command.ts';
import { registerReloadCommand } from './reload-command.ts';
import { registerRequestCommand } from './request-command.ts';
import { createTerminal } from './terminal.ts';
import { registerTopCommand } from './top-command.ts';
import { registerUsageCommand } from './usage-command.ts';

const EXIT_OK = 0;
const EXIT_USAGE = 2;

/** All but `start`, `check` and `doctor`, in the order of the help. */
const REGISTRATIONS: readonly ((program: Command, host: CommandHost) => void)[] = [
  registerAccountCommands,
  registerKeyCommands,
  registerCreditsCommands,
  registerUsageCommand,
  registerLedgerCommands,
  registerModelsCommand,
  registerRequestCommand,
  registerTopCommand,
  registerAuditCommands,
  registerReloadCommand,
  registerBenchCommand,
  registerCompletionCommand,
];

/** Carries out one command line; answers the exit code: 0 ok, 1 failure, 2 usage. */
export async function runCli(argv: readonly string[]): Promise<number> {
  let exitCode = EXIT_OK;
  const terminal = createTerminal();
  const program = new Command('tollgate')
    .description('HTTP gateway in front of language-model backends')
    .version(packageVersion())
    .exitOverride();

  program
    .command('start')
    .description('run a node: primary, workers and, without redis.url, a Redis server of its own')
    .option('--config <file>', 'settings file (default: TOLLGATE_CONFIG, else the defaults)')
    .option('--install-redis', 'install a missing Redis server with the package manager')
    .option('--no-install', 'install nothing, whatever --install-redis says')
    .action(async (options: { config?: string; installRedis?: boolean; install: boolean }) => {
      const installsRedis = options.installRedis === true && options.install;
      // A whole node is slow to load; the other commands should not wait for it.
      const { runStartCommand } = await import('./start-command.ts');
      exitCode = await runStartCommand({ configPath: options.config, installsRedis, ...terminal });
    });

  program
    .command('check')
    .description('print the effective settings, or every problem in them')
    .option('--config <file>', 'settings file (default: TOLLGATE_CONFIG, else the defaults)')
    .option('--json', 'print JSON, the problems too')
    .action((options: { config?: string; json?: boolean }) => {
      const json = options.json === true;
      exitCode = runCheckCommand({ configPath: options.config, json, ...terminal });
    });

  program
    .command('doctor')
    .description('look at everything that a node needs: machine, Redis, upstreams')
    .option('--config <file>', 'settings file (default: TOLLGATE_CONFIG, else the defaults)')
    .option('--json', 'print JSON')
    .action(async (options: { config?: string; json?: boolean }) => {
      const json = options.json === true;
      const { runDoctorCommand } = await import('./doctor-command.ts');
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
    // Help and version are asked for; everything else is a command line that nobody can carry out.
    return error.exitCode === EXIT_OK ? EXIT_OK : EXIT_USAGE;
  }
  return exitCode;
}
