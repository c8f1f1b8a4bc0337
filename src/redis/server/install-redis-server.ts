import { EmbeddedStartError, INSTALL_BY_HAND } from './embedded-start-error.ts';
import { findRedisServer, type RedisServerBinary } from './find-redis-server.ts';
import { type CommandResult, type RunCommand, runCommand } from './run-command.ts';

const INSTALL_TIMEOUT_MS = 300_000;
const CHECK_TIMEOUT_MS = 5_000;
const REASON_CHARS_MAX = 400;

type Command = readonly [program: string, ...args: string[]];

interface Manager {
  readonly program: string;
  readonly needsRoot: boolean;
  /**
   * All of them run in order, even if one fails: a package that is already installed needs no fresh
   * lists.
   */
  readonly prepare: readonly Command[];
  /** The first success is enough, because the packages have different names. */
  readonly install: readonly Command[];
}

/** RUNLEVEL=1 keeps the package from starting a service: the gateway starts a server of its own. */
const APT_ENV = ['env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1'] as const;

const MANAGERS: readonly Manager[] = [
  {
    program: 'apt-get',
    needsRoot: true,
    prepare: [[...APT_ENV, 'apt-get', 'update']],
    install: [
      [...APT_ENV, 'apt-get', 'install', '--yes', '--no-install-recommends', 'redis-server'],
      [...APT_ENV, 'apt-get', 'install', '--yes', '--no-install-recommends', 'valkey-server'],
    ],
  },
  {
    program: 'apk',
    needsRoot: true,
    prepare: [],
    install: [
      ['apk', 'add', '--no-cache', 'redis'],
      ['apk', 'add', '--no-cache', 'valkey'],
    ],
  },
  {
    program: 'dnf',
    needsRoot: true,
    prepare: [],
    install: [
      ['dnf', 'install', '--assumeyes', 'valkey'],
      ['dnf', 'install', '--assumeyes', 'redis'],
    ],
  },
  { program: 'brew', needsRoot: false, prepare: [], install: [['brew', 'install', 'redis']] },
];

interface InstallOptions {
  readonly print: (line: string) => void;
  readonly run?: RunCommand;
  readonly isRoot?: boolean;
}

/**
 * Installs redis-server (or valkey-server) with the system's own package manager. It says so, and
 * prints every command before running it. It never asks: without the necessary rights it throws
 * instructions.
 */
export async function installRedisServer({
  print,
  run = runCommand,
  isRoot = process.getuid?.() === 0,
}: InstallOptions): Promise<RedisServerBinary> {
  const manager = await findManager(run);
  if (manager === undefined) throw failure('no apt-get, apk, dnf or brew was found');
  print(
    `No Redis server was found. ${manager.program} installs one now, on this machine; start with --no-install to do without.`,
  );
  const runVisibly = (command: Command): Promise<CommandResult> => {
    const full: Command = manager.needsRoot && !isRoot ? ['sudo', '-n', ...command] : command;
    print(full.join(' '));
    return run(full, INSTALL_TIMEOUT_MS);
  };
  for (const command of manager.prepare) await runVisibly(command);
  let output = '';
  for (const command of manager.install) {
    const result = await runVisibly(command);
    if (result.exitCode === 0) {
      const found = await findRedisServer(run);
      if (found !== undefined) return found;
    }
    output = result.output;
  }
  throw failure(`${manager.program} did not install it: ${lastLines(output)}`);
}

async function findManager(run: RunCommand): Promise<Manager | undefined> {
  for (const manager of MANAGERS) {
    const { exitCode } = await run([manager.program, '--version'], CHECK_TIMEOUT_MS);
    if (exitCode === 0) return manager;
  }
  return undefined;
}

function lastLines(output: string): string {
  return output.trim().slice(-REASON_CHARS_MAX);
}

function failure(reason: string): EmbeddedStartError {
  return new EmbeddedStartError(
    `redis-server could not be installed: ${reason}\n${INSTALL_BY_HAND}`,
  );
}
