import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '../../../test/support/servers/find-free-port.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { type PinnedProcess, spawnPinned } from '../pinned-process.ts';
import { waitForPort } from '../wait-for-port.ts';

const run = promisify(execFile);
const MASTERS = 3;
const CLUSTER_START_MAX_MS = 30_000;

export type RedisLayout = 'unix' | 'tcp' | 'cluster';

export interface RedisPlace {
  readonly url: string;
  /** Options with which redis-cli reaches this server. */
  readonly cliArgs: readonly string[];
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

interface Server {
  readonly child: PinnedProcess;
  readonly port: number;
  readonly socket: string;
}

/** Rewriting the append-only file would add noise to some rounds and not to others. */
const PERSISTENCE =
  '--appendonly yes --appendfsync everysec --auto-aof-rewrite-percentage 0 --save'.split(' ');

async function startServer(dir: string, args: readonly string[]): Promise<Server> {
  mkdirSync(dir, { recursive: true });
  const port = await findFreePort();
  const socket = join(dir, 's');
  const network = `--bind 127.0.0.1 --port ${port} --unixsocket ${socket} --dir ${dir}`.split(' ');
  const command = ['redis-server', ...network, ...PERSISTENCE, '', ...args];
  const child = await spawnPinned('rest', command);
  await waitForPort(child, port);
  return { child, port, socket };
}

export async function startRedis(dir: string, layout: RedisLayout): Promise<RedisPlace> {
  if (layout === 'cluster') return await startCluster(dir);
  const { child, port, socket } = await startServer(join(dir, 'redis'), []);
  return {
    url: layout === 'unix' ? `unix://${socket}` : `redis://127.0.0.1:${port}`,
    cliArgs: ['-s', socket],
    pids: [child.pid],
    stop: child.stop,
  };
}

async function startCluster(dir: string): Promise<RedisPlace> {
  const servers: Server[] = [];
  for (let n = 1; n <= MASTERS; n++) {
    const clusterPort = String(await findFreePort());
    const args = ['--cluster-enabled', 'yes', '--cluster-port', clusterPort];
    servers.push(await startServer(join(dir, `redis-${n}`), args));
  }
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  await run('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  const isOk = async ({ socket }: Server) =>
    (await run('redis-cli', ['-s', socket, 'cluster', 'info'])).stdout.includes('state:ok');
  await waitUntil(
    async () => (await Promise.all(servers.map(isOk))).every(Boolean),
    'the Redis Cluster is ready',
    CLUSTER_START_MAX_MS,
  );
  return {
    url: `redis-cluster://${addresses.join(',')}`,
    cliArgs: ['-c', '-p', String(servers[0]?.port)],
    pids: servers.map(({ child }) => child.pid),
    async stop() {
      await Promise.all(servers.map(({ child }) => child.stop()));
    },
  };
}
