import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { readPeerVersions } from './install-peers.ts';
import { CAN_PIN } from './pinned-process.ts';

const BYTES_PER_GB = 1024 ** 3;

/** What the figures depend on besides the code. */
export interface Machine {
  readonly cpus: number;
  readonly model: string;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly isPinned: boolean;
  /**
   * How many nanoseconds an idle CPU of a guest polls before it sleeps. `unknown` if Linux does not
   * say.
   */
  readonly haltPoll: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly commit: string;
}

const VERSION_COMMANDS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  nginx: ['nginx', '-v'],
  haproxy: ['haproxy', '-v'],
  caddy: ['caddy', 'version'],
  'redis-server': ['redis-server', '--version'],
  wrk: ['wrk', '--version'],
};

/** Without tags, which would hide the commit. */
const DESCRIBE_COMMIT = [
  'git',
  'describe',
  '--always',
  '--exclude=*',
  '--dirty',
  '--abbrev=12',
] as const;

export function readMachine(): Machine {
  const versions = Object.entries(VERSION_COMMANDS).map(([name, command]) => [
    name,
    findIn(/\d+(\.\d+)+/, command),
  ]);
  return {
    cpus: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / BYTES_PER_GB),
    kernel: release(),
    isPinned: CAN_PIN,
    haltPoll: readHaltPoll(),
    versions: { node: process.version, ...Object.fromEntries(versions), ...readPeerVersions() },
    commit: findIn(/^[0-9a-f]{12,}(-dirty)?$/, DESCRIBE_COMMIT),
  };
}

function readHaltPoll(): string {
  try {
    return readFileSync('/sys/module/haltpoll/parameters/guest_halt_poll_ns', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}

function findIn(pattern: RegExp, command: readonly [string, ...string[]]): string {
  return pattern.exec(readFirstLine(command))?.[0] ?? 'unknown';
}

/** Some programs print their version to standard error and exit with 1. */
function readFirstLine([program, ...args]: readonly [string, ...string[]]): string {
  const options = {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` },
  } as const;
  try {
    const shell = ['-c', '"$0" "$@" 2>&1 || true', program, ...args];
    return execFileSync('sh', shell, options).split('\n')[0]?.trim() ?? '';
  } catch {
    return 'unknown';
  }
}
