import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCountReplicas } from '../../src/accounts/count-replicas.ts';
import { createDirectory, type Directory } from '../../src/accounts/directory.ts';
import type { CatalogueDesk } from '../../src/catalogue-store/catalogue-desk.ts';
import type { Config } from '../../src/config/config.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { digestKey } from '../../src/keys/digest-key.ts';
import type { Log } from '../../src/lib/log.ts';
import { countFaults } from '../../src/metrics/observe-billing.ts';
import { createProcessMetrics } from '../../src/metrics/process-metrics.ts';
import type { NodeState } from '../../src/ops/node-state.ts';
import { joinFleet } from '../../src/primary/join-fleet.ts';
import { createSoldCatalogue } from '../../src/primary/sold-catalogue.ts';
import { openSettleJournal } from '../../src/quota/journal/settle-journal.ts';
import { settle } from '../../src/quota/scripts/settle.ts';
import { sweep } from '../../src/quota/scripts/sweep.ts';
import type { Settlement } from '../../src/quota/settlement/settlement.ts';
import { findBusyBuckets } from '../../src/quota/sweeping/find-busy-buckets.ts';
import { leaveSweeps, shareSweeps } from '../../src/quota/sweeping/share-sweeps.ts';
import { startSweeper } from '../../src/quota/sweeping/sweep-buckets.ts';
import { createBreaker } from '../../src/redis/breaker.ts';
import { connectRedis } from '../../src/redis/connect-redis.ts';
import { watchMasters } from '../../src/redis/watch-masters.ts';
import { watchMemory } from '../../src/redis/watch-memory.ts';
import { watchRedis } from '../../src/redis/watch-redis.ts';
import { type Billing, createBilling } from '../../src/worker/billing.ts';
import { DEFAULT_WARNINGS } from '../../test/support/limits/default-warnings.ts';

const COMMAND_TIMEOUT_MS = 1_000;
const JOURNAL_DRAIN_MAX_MS = 2_000;
const SEEN_MAX_MS = 10_000;
const REPEAT_ATTEMPTS_MAX = 60;
const REPEAT_DELAY_MS = 1_000;

const clock = { nowMs: () => Date.now() };

export interface VirtualNode {
  readonly steps: Billing['steps'];
  /** For changes by operators. */
  readonly directory: Directory;
  readonly catalogue: CatalogueDesk;
  /** Of the catalogue that it sells. */
  version(): number | undefined;
  stop(): Promise<void>;
}

interface VirtualNodeOptions {
  readonly id: string;
  readonly dir: string;
  readonly settings: string;
  readonly readOpen: () => number;
  readonly onCatalogue: (version: number) => void;
  readonly log: Log;
}

/**
 * The parts of a node that ask Redis, in one process: those of a primary without its books, and
 * those of one worker without HTTP.
 */
export async function startVirtualNode(options: VirtualNodeOptions): Promise<VirtualNode> {
  const { id, log } = options;
  const dataDir = join(options.dir, id);
  mkdirSync(dataDir, { recursive: true });
  const source = {
    path: undefined,
    text: `${options.settings}\ndata_dir: ${JSON.stringify(dataDir)}\n`,
    env: {},
  };
  const config = parseConfig(source);
  const metrics = createProcessMetrics({
    models: [],
    upstreams: [],
    versions: [],
    nodeVersions: [],
  });
  const connect = (name: string) =>
    connectRedis({ target: targetOf(config), name, commandTimeoutMs: COMMAND_TIMEOUT_MS, log });
  const parts = { id, dataDir, config, metrics, connect, log };

  const worker = await startWorkerParts(parts);
  const primary = await startPrimaryParts(parts, worker.noteMasters);
  const { billing } = worker.start(primary.journal);
  const sold = createSoldCatalogue(() => config);
  const fleet = joinFleet({
    ...{ target: targetOf(config), node: id, metrics, clock, log, sold },
    pool: {
      inUse: () => ({ source, config, count: 1 }),
      readState: () => stateOf(id),
      readOpen: options.readOpen,
    },
    access: { hear: () => {} },
    threads: { report: () => undefined },
    sweeper: primary.sweeper,
    reload: () => Promise.resolve({ kind: 'busy' }),
  });
  const version = () => sold.state()?.version;
  await sold.open({
    ...{ connection: primary.accounts, countReplicas: primary.countReplicas },
    ...{ line: fleet.line, metrics, clock, log },
    onChange: () => options.onCatalogue(version() ?? 0),
  });

  return {
    ...{ steps: billing.steps, directory: primary.directory, catalogue: sold.desk, version },
    async stop() {
      fleet.drain();
      await worker.stop();
      sold.stop();
      await fleet.close();
      await primary.stop();
    },
  };
}

interface Parts {
  readonly id: string;
  readonly dataDir: string;
  readonly config: Config;
  readonly metrics: ReturnType<typeof createProcessMetrics>;
  readonly connect: (name: string) => ReturnType<typeof connectRedis>;
  readonly log: Log;
}

/** As in `src/worker/start-worker.ts`. */
async function startWorkerParts({ config, metrics, connect, log }: Parts) {
  const redis = connect('worker-1');
  const breaker = createBreaker({ clock, random: Math.random });
  const watch = watchRedis({ connection: redis, breaker, clock, log });
  await watch.waitUntilSeen(SEEN_MAX_MS);
  let billing: Billing | undefined;
  return {
    noteMasters: (news: Parameters<Billing['noteMasters']>[0]) => billing?.noteMasters(news),
    start(handOver: (settlements: readonly Settlement[]) => Promise<void>) {
      billing = createBilling({
        ...{ config, target: targetOf(config), name: 'worker-1', redis, breaker, metrics, clock },
        ...{ clockSkewMs: watch.clockSkewMs, books: { isFull: false }, handOver, log },
        plans: () => config.plans,
      });
      return { billing };
    },
    async stop() {
      watch.stop();
      await billing?.close();
      await redis.close();
    },
  };
}

/** As in `src/primary/start-accounting.ts`. */
async function startPrimaryParts(
  { id, dataDir, metrics, connect, log }: Parts,
  announceMasters: Billing['noteMasters'],
) {
  const connection = connect('primary');
  const accounts = connect('primary-accounts');
  const replicas = connect('primary-replicas');
  const countReplicas = createCountReplicas(replicas);
  const journal = await openSettleJournal({
    dir: join(dataDir, 'journal'),
    settle: countFaults(metrics, (settlement: Settlement) =>
      settle(connection, settlement, DEFAULT_WARNINGS),
    ),
    findCharged: () => Promise.resolve(undefined),
    onSettled: () => {},
    ...{ clock, random: Math.random, log },
  });
  const sweeper = startSweeper({
    learnShare: () => shareSweeps(connection, id),
    leave: () => leaveSweeps(connection, id),
    findBusy: (buckets) => findBusyBuckets(connection, buckets),
    sweep: (bucket, countMax) => sweep(connection, bucket, countMax, DEFAULT_WARNINGS),
    onEvents: () => {},
    onSwept: () => {},
    ...{ random: Math.random, log },
  });
  const memory = watchMemory(connection);
  const directory = createDirectory({
    ...{ connection: accounts, countReplicas, randomBytes, clock, digestKey },
    warnings: () => DEFAULT_WARNINGS,
  });
  const masters = watchMasters({
    ...{ connection, log },
    onChange() {
      journal.replay();
      void repeatWrites(directory);
      announceMasters({ kind: 'changed' });
    },
    onSame(elapsedMs) {
      journal.noteSame(elapsedMs);
      announceMasters({ kind: 'same', elapsedMs });
    },
  });
  return {
    ...{ accounts, countReplicas, directory, sweeper },
    journal: (settlements: readonly Settlement[]) => journal.append(settlements),
    async stop() {
      masters.stop();
      memory.stop();
      await sweeper.stop();
      await journal.drain(JOURNAL_DRAIN_MAX_MS);
      await journal.close();
      await Promise.all([connection.close(), accounts.close()]);
    },
  };
}

async function repeatWrites(directory: Directory): Promise<void> {
  for (let attempt = 0; attempt < REPEAT_ATTEMPTS_MAX; attempt++) {
    const isDone = await directory.replayRecentWrites().then(
      () => true,
      () => false,
    );
    if (isDone) return;
    await sleep(REPEAT_DELAY_MS);
  }
}

function targetOf({ redis }: Config) {
  if (redis === 'embedded') throw new Error('virtual nodes share a Redis');
  return redis;
}

function stateOf(id: string): NodeState {
  const startedMs = Date.now();
  return {
    node: { id, version: '0.1.0', startedMs, configPath: undefined, configVersion: 'bench' },
    workers: [{ worker: 1, pid: process.pid, state: 'listening', startedMs }],
    upstreams: [],
    redis: { state: 'up', isEmbedded: false, topology: 'cluster', outForMs: 0 },
  };
}
