import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../test/support/servers/find-free-port.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { type CallAdmin, createAdminApi } from './admin-api.ts';
import { endProcess, isReady, startRedis } from './processes.ts';

const PROGRAM = 'dist/src/main.js';
const START_MAX_MS = 30_000;

export interface BenchNode {
  readonly port: number;
  readonly key: string;
  stop(): Promise<void>;
}

/**
 * Starts the built program with one worker and its own Redis, in front of one upstream of kind
 * native.
 */
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
  await waitUntil(() => isReady(opsPort), 'the node is ready', START_MAX_MS);
  const token = readFileSync(join(dir, 'data', 'admin-token'), 'utf8').trim();
  return {
    port,
    key: await createKey(createAdminApi(`http://127.0.0.1:${opsPort}`, token)),
    async stop() {
      await endProcess(child);
      await endProcess(redis);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Creates a key of an account with more credits than a run can spend. */
async function createKey(call: CallAdmin): Promise<string> {
  const account = { name: 'bench', plan: 'pro' };
  const { id } = await call<{ id: string }>('POST', '/accounts', account);
  await call('POST', `/accounts/${id}/credits`, { amount: 1_000_000, id: 'bench', note: '' });
  return (await call<{ key: string }>('POST', `/accounts/${id}/keys`, {})).key;
}
