import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '../../support/wait-until.ts';

const run = promisify(execFile);

/** A server that a fault ends, and that starts again with what its folder has. */
export interface FaultServer {
  readonly host: string;
  readonly port: number;
  readonly dir: string;
  /** Runs one command over its socket, whatever its network. */
  cli(...command: readonly string[]): Promise<string>;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
  /** Resolves when it answers, if only that it is loading. */
  start(): Promise<void>;
}

export interface ServerPlace {
  readonly dir: string;
  readonly port: number;
  /** The network that it is alone in, and its address there. */
  readonly network?: { readonly namespace: string; readonly host: string };
  /** Text of its file, which a Sentinel and a node of a Cluster write to. */
  readonly config: string;
  readonly args?: readonly string[];
  readonly isSentinel?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a server of Redis in a folder of its own. */
export async function startFaultServer(place: ServerPlace): Promise<FaultServer> {
  const { dir, port, network, config, args = [], isSentinel = false, env } = place;
  mkdirSync(dir, { recursive: true });
  const [file, socket] = [join(dir, 'redis.conf'), join(dir, 's')];
  writeFileSync(file, config);
  const host = network?.host ?? '127.0.0.1';
  const listen = ['--port', `${port}`, '--bind', host, '--unixsocket', socket, '--dir', dir];
  // Without a password, only clients of the same machine are let in otherwise.
  const open = network === undefined ? [] : ['--protected-mode', 'no'];
  const words = [file, ...listen, ...open, ...args, ...(isSentinel ? ['--sentinel'] : [])];
  const inside = network === undefined ? [] : ['ip', 'netns', 'exec', network.namespace];
  const [program = '', ...rest] = [...inside, 'redis-server', ...words];
  let child: ChildProcess | undefined;

  const cli = async (...command: readonly string[]) =>
    (await run('redis-cli', ['-s', socket, ...command])).stdout.trim();
  const start = async () => {
    child = spawn(program, rest, { stdio: 'ignore', env: { ...process.env, ...env } });
    await waitUntil(async () => {
      if (child?.exitCode !== null) throw new Error(`the server in ${dir} has ended`);
      return (await cli('PING').catch(() => '')) !== '';
    }, `the server in ${dir} answers`);
  };
  await start();
  return {
    ...{ host, port, dir, cli, start },
    signal: (name) => void child?.kill(name),
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

export async function endServers(servers: readonly FaultServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.kill()));
}
