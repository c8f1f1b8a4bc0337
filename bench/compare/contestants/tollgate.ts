import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../../test/support/servers/find-free-port.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { type CallAdmin, createAdminApi } from '../../support/admin-api.ts';
import { isReady } from '../../support/processes.ts';
import { listProcessTree } from '../figures/cpu-times.ts';
import { movePinned, type PinnedProcess, spawnPinned } from '../pinned-process.ts';
import type { ApiFormat, Contestant, Running } from '../scenario.ts';
import { plainRoute } from './bare-proxies.ts';
import { CREDITS, createAccount } from './create-account.ts';
import { mintUnknownKeys } from './mint-unknown-keys.ts';
import { seedKeys } from './seed-keys.ts';
import { type RedisLayout, startRedis } from './start-redis.ts';

const PROGRAM = 'dist/src/main.js';
const START_MAX_MS = 60_000;
/**
 * No request reaches these limits, but they are counted: the highest values that the settings
 * accept, in a short window.
 */
const REQUESTS_MAX = 1_000_000;

/** Which keys the clients use. */
export type Clients =
  | 'one-key'
  | 'ten-thousand-keys'
  | 'million-keys'
  | 'over-limit'
  | 'unknown-key'
  | 'unknown-keys';

export interface TollgateOptions {
  readonly name?: string;
  readonly upstreamKind?: ApiFormat;
  readonly workers?: number;
  readonly redis?: RedisLayout;
  readonly clients?: Clients;
  /** Whether only the workers have the core of the contestant. */
  readonly isPrimaryElsewhere?: boolean;
}

interface Settings {
  readonly dir: string;
  readonly port: number;
  readonly opsPort: number;
  readonly redisUrl: string;
  readonly upstreamPort: number;
  readonly upstreamKind: ApiFormat;
  readonly workers: number;
}

const describeSettings = (settings: Settings) => `workers: ${settings.workers}
listen: 127.0.0.1:${settings.port}
ops: {listen: "127.0.0.1:${settings.opsPort}"}
data_dir: ${join(settings.dir, 'data')}
redis: {url: "${settings.redisUrl}"}
log_level: error
plans: {pro: ${REQUESTS_MAX}}
limits: {rate_window: 10s}
guards: {failed_keys_per_minute: 1000000}
models: [{id: m-1, max_output_tokens: 32000, price: {input: 0.001, output: 0.001}}]
upstreams: [{name: main, kind: ${settings.upstreamKind}, url: "http://127.0.0.1:${settings.upstreamPort}", max_concurrency: 16000}]
`;

/**
 * Everything is on: key check, two rate limits, cap, balance, hold, settlement, ledger and metrics.
 */
export function createTollgate(options: TollgateOptions = {}): Contestant {
  const { name = 'tollgate', upstreamKind = 'native', workers = 1, redis = 'unix' } = options;
  const clients = options.clients ?? 'one-key';
  return {
    name,
    isPeer: false,
    async start({ dir, upstreamPort }) {
      mkdirSync(dir, { recursive: true });
      const store = await startRedis(dir, redis);
      const [port, opsPort] = [await findFreePort(), await findFreePort()];
      const settings = { dir, port, opsPort, redisUrl: store.url, upstreamPort };
      const file = join(dir, 'tollgate.yaml');
      writeFileSync(file, describeSettings({ ...settings, upstreamKind, workers }));
      const command = [process.execPath, PROGRAM, 'start', '--config', file];
      const child = await spawnPinned('contestant', command);
      const stop = async () => {
        await child.stop();
        await store.stop();
      };
      try {
        await waitUntil(() => isUp(child, opsPort), 'Tollgate is ready', START_MAX_MS);
        if (options.isPrimaryElsewhere) movePinned('rest', child.pid);
        const token = readFileSync(join(dir, 'data', 'admin-token'), 'utf8').trim();
        const admin = createAdminApi(`http://127.0.0.1:${opsPort}`, token);
        const { key, keysFile } = await prepareKeys(clients, admin, dir, store.cliArgs);
        return describeRunning({ port, key, keysFile, child, redisPids: store.pids, stop });
      } catch (error) {
        await stop();
        throw error;
      }
    },
  };
}

export const tollgate = createTollgate();

function isUp(child: PinnedProcess, opsPort: number): Promise<boolean> {
  if (child.hasEnded()) throw new Error(`it ended: ${child.output().trim()}`);
  return isReady(opsPort);
}

interface RunningTollgate {
  readonly port: number;
  readonly key: string;
  readonly keysFile: string | undefined;
  readonly child: PinnedProcess;
  readonly redisPids: readonly number[];
  readonly stop: () => Promise<void>;
}

function describeRunning(running: RunningTollgate): Running {
  const { port, key, keysFile, child, redisPids, stop } = running;
  return {
    port,
    routeOf: (format) => ({
      ...plainRoute(format),
      headers: { 'x-api-key': key, 'llm-version': '2023-06-01' },
    }),
    pids: () => listProcessTree(child.pid).filter((pid) => pid !== child.pid),
    sidePids: { primary: [child.pid], redis: redisPids },
    keysFile,
    stop,
  };
}

interface Keys {
  readonly key: string;
  readonly keysFile: string | undefined;
}

async function prepareKeys(
  clients: Clients,
  admin: CallAdmin,
  dir: string,
  cliArgs: readonly string[],
): Promise<Keys> {
  if (clients === 'ten-thousand-keys') return await seedKeys(10_000, admin, dir, cliArgs);
  if (clients === 'million-keys') return await seedKeys(1_000_000, admin, dir, cliArgs);
  if (clients === 'unknown-key' || clients === 'unknown-keys') {
    const { key, keysFile } = mintUnknownKeys(dir);
    return { key, keysFile: clients === 'unknown-keys' ? keysFile : undefined };
  }
  const accountId = await createAccount(admin);
  const rpm = clients === 'over-limit' ? 1 : REQUESTS_MAX;
  const { key } = await admin<{ key: string }>('POST', `/accounts/${accountId}/keys`, {
    rpm,
    monthly_cap: CREDITS,
  });
  return { key, keysFile: undefined };
}
