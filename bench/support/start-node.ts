import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = 'dist/src/main.js';
const START_MAX_MS = 30_000;
const POLL_MS = 50;

export interface BenchNode {
  readonly port: number;
  readonly key: string;
  stop(): Promise<void>;
}

/** The built program with one worker and a Redis of its own, in front of one upstream of kind native. */
export async function startNode(upstreamUrl: string): Promise<BenchNode> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const port = await findFreePort();
  const opsPort = await findFreePort();
  const configPath = join(dir, 'tollgate.yaml');
  const redis = startRedis(dir);
  writeFileSync(
    configPath,
    `workers: 1
listen: 127.0.0.1:${port}
ops: {listen: "127.0.0.1:${opsPort}"}
data_dir: ${join(dir, 'data')}
redis: {url: "unix://${join(dir, 'redis.sock')}"}
log_level: error
plans: {pro: 1000000, team: 1000000}
upstreams: [{name: main, kind: native, url: "${upstreamUrl}"}]
`,
  );
  const child = spawn(process.execPath, [PROGRAM, 'start', '--config', configPath], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await waitUntilReady(opsPort);
  const token = readFileSync(join(dir, 'data', 'admin-token'), 'utf8').trim();
  return {
    port,
    key: await createKey(opsPort, token),
    async stop() {
      await end(child);
      await end(redis);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Nothing is written to a disk, whose speed would be all that is measured. */
function startRedis(dir: string): ChildProcess {
  const place = ['--port', '0', '--unixsocket', join(dir, 'redis.sock'), '--dir', dir];
  return spawn('redis-server', [...place, '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Of an account with more credits than a run can spend. */
async function createKey(opsPort: number, token: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const response = await fetch(`http://127.0.0.1:${opsPort}/admin/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { readonly id: string; readonly key: string };
  };
  const { id } = await post('/accounts', { name: 'bench', plan: 'pro' });
  await post(`/accounts/${id}/credits`, { amount: 1_000_000, id: 'bench', note: '' });
  return (await post(`/accounts/${id}/keys`, {})).key;
}

async function waitUntilReady(opsPort: number): Promise<void> {
  const dueMs = performance.now() + START_MAX_MS;
  for (;;) {
    const isReady = await fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (performance.now() > dueMs) throw new Error('the node does not start');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
