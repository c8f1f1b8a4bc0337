import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { askRedis } from '../clients/ask-redis.ts';
import { waitUntil } from '../wait-until.ts';
import { findFreePort } from './find-free-port.ts';
import { type RedisProcess, startRedisProcess } from './redis-process.ts';

const run = promisify(execFile);

/** If another process takes a free port first, the next port is tried. */
const START_ATTEMPTS_MAX = 5;

export interface TestRedisServer {
  /** 0 if the server listens only on its socket. */
  readonly port: number;
  readonly socketPath: string;
  readonly dir: string;
  readonly pid: number;
  /** Carries out one command over the socket. Options of `redis-cli` may stand before it. */
  cli(...command: string[]): Promise<string>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

interface StartOptions {
  /** A free port if omitted. */
  readonly port?: number;
  readonly args?: readonly string[];
  /** A configuration file that the server may write to, as Sentinel requires. */
  readonly config?: string;
  /** Whether to run as a Sentinel. */
  readonly isSentinel?: boolean;
  /** Environment variables, in addition to those of the tests. */
  readonly env?: Readonly<Record<string, string>>;
}

const running = new Set<RedisProcess>();
const folders = new Set<string>();

process.once('exit', () => {
  for (const server of running) server.signal('SIGKILL');
});

/**
 * Starts a throw-away server in a temporary folder. Every test file ends with `stopRedisServers`.
 */
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

/** Ends every server that this file started, even those of failed tests, and removes their data. */
export async function stopRedisServers(): Promise<void> {
  await Promise.all([...running].map((server) => server.kill()));
  running.clear();
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
  const server = await startRedisProcess(args, options.env);
  running.add(server);

  const cli = async (...command: string[]) => {
    const isOption = command[0]?.startsWith('-') === true;
    if (!isOption) return askRedis(socketPath, command);
    return (await run('redis-cli', ['-s', socketPath, ...command])).stdout.trim();
  };
  await waitUntil(async () => {
    if (server.hasEnded()) throw new Error(`redis-server ended: ${server.output()}`);
    return (await cli('PING').catch(() => '')) !== '';
  }, `redis-server answers on port ${port}: ${server.output()}`);
  return {
    port,
    socketPath,
    dir,
    pid: server.pid,
    cli,
    signal: server.signal,
    stop: server.kill,
  };
}
