import type { Directory } from '../accounts/directory.ts';
import { ensureDemoKey } from '../accounts/ensure-demo-key.ts';
import { createCatalogue } from '../catalogue/resolve-model.ts';
import type { Config } from '../config/config.ts';
import { packageVersion } from '../config/package-version.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { ConfigSource } from '../config/read-config-source.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { unixRedisTarget } from '../lib/redis-target.ts';
import type { MetricsCollector } from '../metrics/collect-metrics.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import { loadAdminToken } from '../ops/load-admin-token.ts';
import { type OpsServer, startOpsServer } from '../ops/start-ops-server.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../redis/embedded-server.ts';
import { findRedisServer } from '../redis/find-redis-server.ts';
import { installRedisServer } from '../redis/install-redis-server.ts';
import { announceNode } from './announce-node.ts';
import { checkEndpointFree } from './check-endpoint-free.ts';
import { createEnding } from './create-ending.ts';
import { createFleet, type Fleet } from './create-fleet.ts';
import { createLog } from './create-log.ts';
import { createNodeMetrics } from './create-node-metrics.ts';
import { createReload } from './create-reload.ts';
import { loadNodeId } from './load-node-id.ts';
import { lockDataDir } from './lock-data-dir.ts';
import { isMoved, readNextConfig } from './read-next-config.ts';
import { type Bookkeeping, startBookkeeping } from './start-bookkeeping.ts';

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
  const configNow = () => config;
  const { metrics, collector, follow } = createNodeMetrics({ config: configNow, log });
  const lock = await lockDataDir(config.dataDir);
  let embedded: EmbeddedServer | undefined;
  let books: Bookkeeping | undefined;
  let fleet: Fleet | undefined;
  let ops: OpsServer | undefined;
  let isReady = false;
  try {
    await checkEndpointFree(config.listen);
    const ending = createEnding();
    embedded = await startEmbedded(config, options, { log, onGiveUp: ending.fail });
    books = await startBooks(config, embedded, { metrics, log });
    const { directory, journal } = books;
    const { dataDir } = config;
    if (embedded !== undefined) await books.waitForStore();
    const demoKey = embedded && (await ensureDemoKey({ dataDir, directory }));
    fleet = createFleet({
      effective: { source, config },
      embeddedRedisPath: embedded?.socketPath,
      nodeId: loadNodeId(dataDir),
      ...{ journal, follow, clock: systemClock, log, onGiveUp: ending.fail },
      onReplace: () => metrics.workerRestarts.at({}).add(1),
    });
    const workers = fleet;
    ops = await startOps({
      ...{ directory, collector, log, readCluster: fleet.readState },
      config: configNow,
      isReady: () => isReady,
    });
    await workers.start(config.workers);
    isReady = true;
    announceNode(config, demoKey, print);

    const carryOut = async () => {
      const next = readNextConfig(readSource, config);
      if (isMoved(config, next.config)) await checkEndpointFree(next.config.listen);
      workers.changeConfig(next);
      ({ source, config } = next);
      const { timeoutMs } = config.drain;
      await workers.roll(config.workers, { timeoutMs, lingerMs: ROLL_LINGER_MS });
    };
    const onEnd = (result: string) => metrics.reloads.at({ result }).add(1);
    const reload = createReload({ log, carryOut, onEnd });
    process.on('SIGHUP', reload);
    const reason = await ending.reached;
    process.off('SIGHUP', reload);
    isReady = false;
    if (reason instanceof Error) log.error({ err: reason }, 'the node gives up');
    else log.info({ signal: reason }, 'draining');
    const isHurried = await drainWorkers(workers, config, ending);
    if (reason instanceof Error) throw reason;
    log.info({}, isHurried ? 'ended without waiting' : 'drained');
    return isHurried ? 1 : 0;
  } finally {
    fleet?.killAll();
    ops?.close();
    await books?.close();
    await embedded?.stop();
    lock.release();
  }
}

/** Answers whether somebody did not want to wait for it. */
async function drainWorkers(
  workers: Fleet,
  { drain }: Config,
  ending: { readonly hurried: Promise<true> },
): Promise<boolean> {
  const drained = workers.stop({ timeoutMs: drain.timeoutMs, lingerMs: STOP_LINGER_MS });
  return (await Promise.race([drained, ending.hurried])) === true;
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
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): Promise<Bookkeeping> {
  const target = redis === 'embedded' ? unixRedisTarget(embedded?.socketPath ?? '') : redis;
  return startBookkeeping({ target, dataDir, metrics, clock: systemClock, log });
}

interface OpsParts {
  readonly directory: Directory;
  readonly readCluster: Fleet['readState'];
  readonly collector: MetricsCollector;
  /** As it is after the last reload. */
  readonly config: () => Config;
  readonly isReady: () => boolean;
  readonly log: Log;
}

function startOps(parts: OpsParts): Promise<OpsServer> {
  const { directory, readCluster, collector, config, isReady, log } = parts;
  const { ops, dataDir } = config();
  return startOpsServer({
    endpoint: ops.listen,
    version: packageVersion(),
    isReady,
    collectMetrics: collector.collect,
    admin: {
      token: loadAdminToken({ configured: ops.adminToken, dataDir }),
      ...{ directory, readCluster },
      isModel: (name) => createCatalogue(config().models).resolve(name) !== undefined,
    },
    log,
  });
}
