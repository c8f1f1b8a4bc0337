import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../test/support/servers/find-free-port.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { type CallAdmin, createAdminApi } from '../support/admin-api.ts';
import { endProcess, isReady, startRedis } from '../support/processes.ts';
import { PLANS } from './world.ts';

const PROGRAM = 'dist/src/main.js';
const UPSTREAM = 'dist/bench/soak/upstream-main.js';
const WORKERS = 2;
const START_MAX_MS = 60_000;

export interface SoakNode {
  readonly name: string;
  readonly url: string;
  readonly opsUrl: string;
  readonly pid: number;
  readonly configPath: string;
  readonly dataDir: string;
  readonly admin: CallAdmin;
  reload(): void;
  /** Returns how the process ended. */
  stop(): Promise<number | NodeJS.Signals | null>;
}

export type SpawnedNode = Awaited<ReturnType<typeof spawnNode>>;

export interface SoakNodes {
  readonly nodes: readonly SoakNode[];
  readonly redisSocket: string;
  readonly redisPid: number;
  /** Ends everything that still runs and removes its data. */
  stop(): Promise<void>;
}

/** Starts two nodes with two workers each, on one Redis and in front of real HTTP upstreams. */
export async function startSoakNodes(rateWindowMs: number): Promise<SoakNodes> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-soak-'));
  const redis = startRedis(dir);
  const upstream = fork(UPSTREAM);
  const children: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(children.map(endProcess));
    upstream.disconnect();
    await endProcess(redis);
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const [{ port }] = (await once(upstream, 'message')) as [{ port: number }];
    const shared = describeShared(join(dir, 'redis.sock'), port, rateWindowMs);
    const nodes: SoakNode[] = [];
    for (const name of ['a', 'b']) {
      const { child, node } = await spawnNode(join(dir, name), name, shared);
      children.push(child);
      await waitUntil(
        () => isReady(Number(new URL(node.opsUrl).port)),
        'it is ready',
        START_MAX_MS,
      );
      nodes.push({ ...node, admin: createAdminApi(...readAdmin(node)) });
    }
    return { nodes, redisSocket: join(dir, 'redis.sock'), redisPid: redis.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function readAdmin({ opsUrl, dataDir }: Pick<SoakNode, 'opsUrl' | 'dataDir'>): [string, string] {
  const token = readFileSync(join(dataDir, 'admin-token'), 'utf8').trim();
  return [opsUrl, token];
}

/** Timeouts are short, so that a short run shows stalls too. */
function describeShared(redisSocket: string, upstreamPort: number, rateWindowMs: number): string {
  const times = 'timeouts: {connect: 1s, first_byte: 3s, idle: 3s, total: 30s}';
  const base = `http://127.0.0.1:${upstreamPort}`;
  return `workers: ${WORKERS}
redis: {url: "unix://${redisSocket}"}
log_level: error
plans: ${JSON.stringify(PLANS)}
limits: {rate_window: ${rateWindowMs}ms}
models:
  - {id: llm-haiku-4.5, max_output_tokens: 1000, price: {input: 1, output: 5}, routes: [{upstream: native, weight: 2}, {upstream: chat}, {upstream: responses}]}
  - {id: llm-sonnet-4.6, max_output_tokens: 1000, price: {input: 3, output: 15}, routes: [{upstream: chat}, {upstream: responses}, {upstream: native, priority: 2}]}
upstreams:
  - {name: native, kind: native, url: "${base}/native", probe: {interval: 1s}, ${times}}
  - {name: chat, kind: chat, url: "${base}/chat", ${times}}
  - {name: responses, kind: responses, url: "${base}/responses", ${times}}
`;
}

/** `shared` are the settings that it has beside its places. */
export async function spawnNode(dir: string, name: string, shared: string) {
  const [port, opsPort] = [await findFreePort(), await findFreePort()];
  const [configPath, dataDir] = [join(dir, 'tollgate.yaml'), join(dir, 'data')];
  mkdirSync(dataDir, { recursive: true });
  const own = `listen: 127.0.0.1:${port}\nops: {listen: "127.0.0.1:${opsPort}"}\ndata_dir: ${dataDir}\n`;
  writeFileSync(configPath, own + shared);
  const child = spawn(process.execPath, [PROGRAM, 'start', '--config', configPath], {
    stdio: ['ignore', 'ignore', openSync(join(dir, 'log'), 'w')],
  });
  const node = {
    ...{ name, configPath, dataDir, pid: child.pid ?? 0 },
    url: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    reload: () => void child.kill('SIGHUP'),
    stop: () => endProcess(child),
  };
  return { child, node };
}
