import { fileURLToPath } from 'node:url';
import type { Operator } from '../accounts/audit/audit-entry.ts';
import { ensureDemoKey } from '../accounts/ensure-demo-key.ts';
import { compactHeapLater } from '../bookkeeping/compact-heap.ts';
import { createCatalogue, nameForList } from '../catalogue/catalogue.ts';
import type { Config } from '../config/config.ts';
import { packageVersion } from '../config/package-version.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { ConfigSource } from '../config/source/read-config-source.ts';
import { readProgramName } from '../config/source/read-program-name.ts';
import { loadNodeId } from '../data-dir/load-node-id.ts';
import { lockDataDir } from '../data-dir/lock-data-dir.ts';
import type { Fleet } from '../fleet/start-fleet.ts';
import { checkEndpointFree } from '../http/check-endpoint-free.ts';
import { loadUws } from '../http/load-uws.ts';
import { digestEndUser } from '../keys/digest-end-user.ts';
import { type RedisTarget, unixRedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import type { Readiness } from '../lib/readiness.ts';
import { createLog } from '../log/create-log.ts';
import type { MastersNews } from '../messages/worker-messages.ts';
import { loadAdminToken } from '../ops/access/load-admin-token.ts';
import type { PublishEvent } from '../ops/event-hub.ts';
import { type OpsServer, startOpsServer } from '../ops/start-ops-server.ts';
import {
  type EmbeddedServer,
  startEmbeddedServer,
  warnOfLeftData,
} from '../redis/server/embedded-server.ts';
import { findRedisServer } from '../redis/server/find-redis-server.ts';
import { installRedisServer } from '../redis/server/install-redis-server.ts';
import { redisSocketPath } from '../redis/server/redis-socket-path.ts';
import { systemClock } from '../timers/system-clock.ts';
import { announceNode } from './announce-node.ts';
import { createPlansCheck } from './create-plans-check.ts';
import { joinFleet } from './join-fleet.ts';
import { createNodeMetrics, type NodeMetrics } from './node-metrics.ts';
import type { ConfigInUse } from './read-next-config.ts';
import type { Reload } from './reload.ts';
import { createEnding, watchHangUps } from './signals.ts';
import { createSoldCatalogue, type SoldCatalogue } from './sold-catalogue.ts';
import {
  type Accounting,
  type AccountingOptions,
  costsOf,
  startAccounting,
} from './start-accounting.ts';
import { watchBooksRoom } from './watch-books.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';

interface PrimaryOptions {
  /** Reads the settings at each call: at the start and at every reload. */
  readonly readSource: () => ConfigSource;
  /** Whether a missing Redis server may be installed with the system's package manager. */
  readonly installsRedis: boolean;
  /** Prints a line for the person who started the node. */
  readonly print: (line: string) => void;
}

/**
 * A worker keeps an idle connection open for this long, since its client may be about to use it
 * again.
 */
const STOP_LINGER_MS = 500;
/** The sender of a signal is not known. */
const SIGNAL: Operator = { via: 'signal', token: null, address: null, operator: null };

const DASHBOARD_DIR = fileURLToPath(new URL('../dashboard', import.meta.url));
const DOCS_DIR = fileURLToPath(new URL('../docs', import.meta.url));

const clock = systemClock;

const BUSY = { kind: 'busy' } as const;

/**
 * Runs the node until it is told to end, and returns the exit code. Throws if the node cannot
 * start.
 */
export async function runPrimary(options: PrimaryOptions): Promise<number> {
  const reloadAtHangUps = watchHangUps();
  const first = readFirstConfig(options.readSource);
  const lock = await lockDataDir(first.config.dataDir);
  try {
    return await runNode(options, { first, reloadAtHangUps });
  } finally {
    lock.release();
  }
}

interface NodeStart {
  readonly first: ConfigInUse;
  readonly reloadAtHangUps: ReturnType<typeof watchHangUps>;
}

async function runNode(
  options: PrimaryOptions,
  { first, reloadAtHangUps }: NodeStart,
): Promise<number> {
  const { config } = first;
  const log = createLog(config.logLevel, 'primary');
  const inUse = () => pool?.inUse() ?? first;
  const configInUse = () => inUse().config;
  const publish: PublishEvent = (event) => fleet?.publish(event);
  const nodeMetrics = createNodeMetrics({ configInUse, log });
  const { metrics } = nodeMetrics;
  const sold = createSoldCatalogue(configInUse);
  let embedded: EmbeddedServer | undefined;
  let accounting: Accounting | undefined;
  let pool: WorkerPool | undefined;
  let fleet: Fleet | undefined;
  let ops: OpsServer | undefined;
  let isReady = false;
  try {
    await checkEndpointFree(config.listen);
    if (config.ops.listen.kind === 'unix') await checkEndpointFree(config.ops.listen);
    const ending = createEnding();
    embedded = await startEmbedded(config, options, { log, onGiveUp: ending.fail });
    const target = targetOf(config);
    const news = {
      publish,
      announceMasters: (masters: MastersNews) => pool?.announceMasters(masters),
    };
    const node = loadNodeId(config.dataDir);
    accounting = await startNodeAccounting(inUse, target, { node, metrics, log, ...news });
    const { connection, countReplicas, access, audit, journal, threads, sweeper } = accounting;
    if (embedded !== undefined) await prepareDemo(accounting, config);
    const checkPlans = createPlansCheck(() => fleet?.desk, node);
    const parts = { accounting, connection, countReplicas, node, nodeMetrics, sold, clock, log };
    pool = createWorkerPool({
      ...{ first, readSource: options.readSource, journal, audit, publish, ...parts },
      noteActivity: (activity) => fleet?.noteActivity(activity),
      ...{ checkPlans, noteRefusals: threads.noteRefusals },
      onUse: (next) => threads.changeCosts(costsOf(next)),
      ...{ embeddedRedisPath: embedded?.socketPath, onGiveUp: ending.fail },
    });
    const workers = pool;
    const reload: Reload = async (...call) => (isReady ? workers.reload(...call) : BUSY);
    fleet = joinFleet({ ...parts, target, pool, access, threads, sweeper, reload, metrics });
    const { announceCatalogue: onChange, readState: readNode } = workers;
    await sold.open({ ...parts, line: fleet.line, metrics, onChange });
    await checkPlans(sold.currentFor(config).plans);
    const readiness = () => (isReady ? workers.readReadiness() : 'unavailable');
    ops = await startOps({ ...parts, fleet, readNode, reload, configInUse, readiness });
    const stopRoomWatch = watchBooksRoom(threads, configInUse, workers.announceBooksFull);
    await workers.start();
    compactHeapLater();
    isReady = true;
    reloadAtHangUps(() => void reload(SIGNAL));
    await announce(first, { sold, accounting }, options.print);
    const reason = await ending.reached;
    isReady = false;
    fleet.drain();
    stopRoomWatch();
    return await endWorkers(reason, { ...ending, workers, log });
  } finally {
    pool?.killAll();
    ops?.close();
    sold.stop();
    await fleet?.close();
    await accounting?.close();
    await embedded?.stop();
  }
}

interface AnnounceParts {
  readonly sold: Pick<SoldCatalogue, 'currentFor'>;
  readonly accounting: Pick<Accounting, 'findStoreTrouble'>;
}

async function announce(
  { config, source }: ConfigInUse,
  { sold, accounting }: AnnounceParts,
  print: PrimaryOptions['print'],
): Promise<void> {
  const { models, plans } = sold.currentFor(config);
  const redisTrouble = await accounting.findStoreTrouble();
  const announcement = {
    ...{ config, configPath: source.path, models, plans: Object.keys(plans) },
    ...{ redisTrouble, program: readProgramName() },
  };
  announceNode(announcement, print);
}

interface EndParts {
  readonly workers: Pick<WorkerPool, 'stop'>;
  readonly hurried: Promise<true>;
  readonly log: Log;
}

/** Returns the exit code. Throws the reason if it is an error. */
async function endWorkers(
  reason: Error | NodeJS.Signals,
  { workers, hurried, log }: EndParts,
): Promise<number> {
  if (reason instanceof Error) log.error({ err: reason }, 'the node gives up');
  else log.info({ signal: reason }, 'draining');
  const isHurried = await Promise.race([workers.stop(STOP_LINGER_MS), hurried]);
  if (reason instanceof Error) throw reason;
  log.info({}, isHurried === true ? 'ended without waiting' : 'drained');
  return isHurried === true ? 1 : 0;
}

/** Starts the embedded store of a node whose settings name no Redis. */
async function startEmbedded(
  { redis, dataDir, uwsSha256 }: Config,
  { installsRedis, print }: PrimaryOptions,
  { log, onGiveUp }: { readonly log: Log; readonly onGiveUp: (reason: Error) => void },
): Promise<EmbeddedServer | undefined> {
  if (redis !== 'embedded') {
    warnOfLeftData(dataDir, log);
    return undefined;
  }
  if (installsRedis && (await findRedisServer()) === undefined) {
    // Nothing is installed for a node that its workers could not serve.
    loadUws(uwsSha256);
    await installRedisServer({ print });
  }
  return startEmbeddedServer({ dataDir, log, onGiveUp });
}

/** The store is the node's own, so it may still be starting. */
async function prepareDemo(accounting: Accounting, { dataDir }: Config) {
  await accounting.waitForStore();
  await ensureDemoKey({ dataDir, directory: accounting.directory });
}

function targetOf({ redis, dataDir }: Config): RedisTarget {
  return redis === 'embedded' ? unixRedisTarget(redisSocketPath(dataDir)) : redis;
}

function startNodeAccounting(
  inUse: () => ConfigInUse,
  target: RedisTarget,
  more: Pick<AccountingOptions, 'node' | 'metrics' | 'log' | 'publish' | 'announceMasters'>,
): Promise<Accounting> {
  return startAccounting({
    ...{ target, config: inUse().config, clock },
    configInUse: () => inUse().config,
    sourceInUse: () => inUse().source,
    ...more,
  });
}

interface OpsParts {
  readonly accounting: Accounting;
  readonly fleet: Fleet;
  readonly node: string;
  readonly nodeMetrics: NodeMetrics;
  readonly sold: SoldCatalogue;
  readonly readNode: WorkerPool['readState'];
  readonly reload: Reload;
  /** The settings in use, which a reload changes. */
  readonly configInUse: () => Config;
  readonly readiness: () => Readiness;
  readonly log: Log;
}

function startOps(parts: OpsParts): Promise<OpsServer> {
  const { accounting, fleet, node, nodeMetrics, readNode, reload, configInUse, readiness, log } =
    parts;
  const { ops, dataDir } = configInUse();
  const { metrics } = nodeMetrics;
  const sold = () => parts.sold.currentFor(configInUse());
  return startOpsServer({
    endpoint: ops.listen,
    version: packageVersion(),
    readiness,
    collectMetrics: nodeMetrics.collector.collect,
    dashboardDir: DASHBOARD_DIR,
    docsDir: DOCS_DIR,
    admin: {
      token: loadAdminToken({ configured: ops.adminToken, dataDir }),
      ...{ node, reload, readNode, clock },
      ...{ fleet: fleet.desk, events: fleet.events, publish: fleet.publish },
      ...{ directory: accounting.directory, audit: accounting.audit, books: accounting.desk },
      limitEvents: accounting.limitEvents,
      ...{ ...accounting.access, oidc: ops.oidc },
      onCall: (by, outcome) => metrics.adminCalls.at({ by, outcome }).add(1),
      onSignIn: (result) => metrics.signIns.at({ result }).add(1),
      rateRules: () => ({ windowMs: configInUse().limits.rateWindowMs, plans: sold().plans }),
      digestEndUser: (name) => digestEndUser(name, configInUse().limits.endUsers.secret),
      nameModel: (name) => nameForList(createCatalogue(sold().models), name),
      readModels: () => sold().models,
      catalogue: parts.sold.desk,
      readApiPlace: () => {
        const { listen, guards } = configInUse();
        return { endpoint: listen, trustedProxies: guards.trustedProxies };
      },
    },
    log,
  });
}

function readFirstConfig(readSource: () => ConfigSource): ConfigInUse {
  const source = readSource();
  return { source, config: parseConfig(source), count: 1 };
}
