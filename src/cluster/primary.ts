import type { Directory } from '../accounts/directory.ts';
import { ensureDemoKey } from '../accounts/ensure-demo-key.ts';
import { createCatalogue } from '../catalogue/resolve-model.ts';
import type { Config } from '../config/config.ts';
import { packageVersion } from '../config/package-version.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { ConfigSource } from '../config/read-config-source.ts';
import type { LedgerDesk } from '../ledger/create-ledger-desk.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { unixRedisTarget } from '../lib/redis-target.ts';
import { loadAdminToken } from '../ops/load-admin-token.ts';
import { type OpsServer, startOpsServer } from '../ops/start-ops-server.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../redis/embedded-server.ts';
import { findRedisServer } from '../redis/find-redis-server.ts';
import { installRedisServer } from '../redis/install-redis-server.ts';
import { announceNode } from './announce-node.ts';
import { checkEndpointFree } from './check-endpoint-free.ts';
import { createEnding } from './create-ending.ts';
import { createLog } from './create-log.ts';
import { createReload } from './create-reload.ts';
import { forkWorker } from './fork-worker.ts';
import { lockDataDir } from './lock-data-dir.ts';
import { isMoved, readNextConfig } from './read-next-config.ts';
import { type Bookkeeping, startBookkeeping } from './start-bookkeeping.ts';
import { type Supervisor, superviseWorkers } from './supervise-workers.ts';

export interface PrimaryOptions {
  /** Reads the settings anew at each call: at the start and at every reload. */
  readonly readSource: () => ConfigSource;
  /** Whether a missing Redis server may be installed with the system's package manager. */
  readonly installsRedis: boolean;
  /** For the people who started the node. */
  readonly print: (line: string) => void;
}

/** A worker keeps an idle connection open for a while, since its client may be about to use it again. */
const STOP_LINGER_MS = 500;
/** In a roll nothing hurries: idle connections are left to the time-out that closes them anyway. */
const ROLL_LINGER_MS = 13_000;

const systemClock: Clock = { nowMs: () => Date.now() };

/** Runs the node until it is told to end; answers the exit code. Throws when it cannot start. */
export async function runPrimary(options: PrimaryOptions): Promise<number> {
  const { readSource, print } = options;
  let source = readSource();
  let config = parseConfig(source);
  const log = createLog(config.logLevel, 'primary');
  const lock = await lockDataDir(config.dataDir);
  let embedded: EmbeddedServer | undefined;
  let books: Bookkeeping | undefined;
  let supervisor: Supervisor | undefined;
  let ops: OpsServer | undefined;
  let isReady = false;
  try {
    await checkEndpointFree(config.listen);
    const ending = createEnding();
    embedded = await startEmbedded(config, options, { log, onGiveUp: ending.fail });
    books = await startBooks(config, embedded, log);
    const { directory, ledger, journal } = books;
    const { dataDir } = config;
    if (embedded !== undefined) await books.waitForStore();
    const demoKey = embedded && (await ensureDemoKey({ dataDir, directory }));
    supervisor = superviseWorkers({
      fork: (worker) =>
        forkWorker({ worker, source, embeddedRedisPath: embedded?.socketPath }, journal),
      clock: systemClock,
      log,
      onGiveUp: ending.fail,
    });
    const workers = supervisor;
    ops = await startOps({ directory, ledger, config: () => config, isReady: () => isReady, log });
    await workers.start(config.workers);
    isReady = true;
    announceNode(config, demoKey, print);

    const reload = createReload(log, async () => {
      const next = readNextConfig(readSource, config);
      if (isMoved(config, next.config)) await checkEndpointFree(next.config.listen);
      ({ source, config } = next);
      await workers.roll(config.workers, {
        timeoutMs: config.drain.timeoutMs,
        lingerMs: ROLL_LINGER_MS,
      });
    });
    process.on('SIGHUP', reload);
    const reason = await ending.reached;
    process.off('SIGHUP', reload);
    isReady = false;
    if (reason instanceof Error) log.error({ err: reason }, 'the node gives up');
    else log.info({ signal: reason }, 'draining');
    const drained = workers.stop({ timeoutMs: config.drain.timeoutMs, lingerMs: STOP_LINGER_MS });
    const isHurried = await Promise.race([drained, ending.hurried]);
    if (reason instanceof Error) throw reason;
    log.info({}, isHurried === true ? 'ended without waiting' : 'drained');
    return isHurried === true ? 1 : 0;
  } finally {
    supervisor?.killAll();
    ops?.close();
    await books?.close();
    await embedded?.stop();
    lock.release();
  }
}

/** The store of a node whose settings name none. */
async function startEmbedded(
  { redis, dataDir }: Config,
  { installsRedis, print }: PrimaryOptions,
  { log, onGiveUp }: { readonly log: Log; readonly onGiveUp: (reason: Error) => void },
): Promise<EmbeddedServer | undefined> {
  if (redis !== 'embedded') return undefined;
  if (installsRedis && (await findRedisServer()) === undefined) {
    await installRedisServer({ print });
  }
  return startEmbeddedServer({ dataDir, log, onGiveUp });
}

function startBooks(
  { redis, dataDir }: Config,
  embedded: EmbeddedServer | undefined,
  log: Log,
): Promise<Bookkeeping> {
  const target = redis === 'embedded' ? unixRedisTarget(embedded?.socketPath ?? '') : redis;
  return startBookkeeping({ target, dataDir, clock: systemClock, log });
}

interface OpsParts {
  readonly directory: Directory;
  readonly ledger: LedgerDesk;
  /** As it is after the last reload. */
  readonly config: () => Config;
  readonly isReady: () => boolean;
  readonly log: Log;
}

function startOps({ directory, ledger, config, isReady, log }: OpsParts): Promise<OpsServer> {
  const { ops, dataDir } = config();
  return startOpsServer({
    endpoint: ops.listen,
    version: packageVersion(),
    isReady,
    admin: {
      token: loadAdminToken({ configured: ops.adminToken, dataDir }),
      directory,
      ledger,
      isModel: (name) => createCatalogue(config().models).resolve(name) !== undefined,
    },
    log,
  });
}
