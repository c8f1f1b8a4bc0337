import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from './find-free-port.ts';
import { waitUntil } from './wait-until.ts';

const run = promisify(execFile);

/** Another process may take a free port first; then the next one is tried. */
const START_ATTEMPTS_MAX = 5;

export interface TestRedisServer {
  /** 0 when it listens on its socket only. */
  readonly port: number;
  readonly socketPath: string;
  readonly dir: string;
  readonly pid: number;
  /** Runs one command with redis-cli over the socket, and answers with what it prints. */
  cli(...command: string[]): Promise<string>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

interface StartOptions {
  /** A port of its own when left out. */
  readonly port?: number;
  readonly args?: readonly string[];
  /** A configuration file that the server may write to, as Sentinel demands. */
  readonly config?: string;
  /** Runs as a Sentinel. */
  readonly isSentinel?: boolean;
}

const running = new Map<number, ChildProcess>();
const folders = new Set<string>();

process.once('exit', () => {
  for (const child of running.values()) child.kill('SIGKILL');
});

/** A throw-away server in a temporary folder. Every test file ends with `stopRedisServers`. */
export async function startRedisServer(options: StartOptions = {}): Promise<TestRedisServer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await findFreePort());
    try {
      return await startOnce(port, options);
    } catch (error) {
      const isTaken = String(error).includes('in use') && options.port === undefined;
      if (!isTaken || attempt >= START_ATTEMPTS_MAX) throw error;
    }
  }
}

/** Ends every server that this file started, also those of tests that failed, and removes their data. */
export async function stopRedisServers(): Promise<void> {
  await Promise.all([...running.values()].map(kill));
  for (const dir of folders) rmSync(dir, { recursive: true, force: true });
  folders.clear();
}

export function makeTempFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-'));
  folders.add(dir);
  return dir;
}

async function startOnce(port: number, options: StartOptions): Promise<TestRedisServer> {
  const dir = makeTempFolder();
  const socketPath = join(dir, 's');
  const configPath = join(dir, 'redis.conf');
  writeFileSync(configPath, options.config ?? '');
  const network = ['--port', `${port}`, '--bind', '127.0.0.1', '--unixsocket', socketPath];
  const args = [
    configPath,
    ...network,
    ...['--dir', dir, '--save', '', ...(options.args ?? [])],
    ...(options.isSentinel === true ? ['--sentinel'] : []),
  ];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += String(data);
    });
  }
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  running.set(pid, child);
  child.once('exit', () => running.delete(pid));

  const cli = async (...command: string[]) =>
    (await run('redis-cli', ['-s', socketPath, ...command])).stdout.trim();
  await waitUntil(async () => {
    if (hasEnded(child)) throw new Error(`redis-server ended: ${output}`);
    return (await cli('PING').catch(() => '')) !== '';
  }, `redis-server answers on port ${port}: ${output}`);
  return {
    port,
    socketPath,
    dir,
    pid,
    cli,
    signal: (name) => {
      child.kill(name);
    },
    stop: () => kill(child),
  };
}

/** SIGKILL also ends a server that a test has frozen. */
async function kill(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
