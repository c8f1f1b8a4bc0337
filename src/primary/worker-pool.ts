import type { Config } from '../config/config.ts';
import { packConfig } from '../config/pack-config.ts';
import type { ConfigSource } from '../config/source/read-config-source.ts';
import { checkEndpointFree } from '../http/check-endpoint-free.ts';
import type { Log } from '../lib/log.ts';
import { findWorstReadiness, type Readiness } from '../lib/readiness.ts';
import type { RefusalBatch } from '../lib/refusal-batch.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Activity } from '../messages/activity.ts';
import type { MastersNews } from '../messages/worker-messages.ts';
import type { PublishEvent } from '../ops/event-hub.ts';
import type { NodeState } from '../ops/node-state.ts';
import type { Settlement } from '../quota/settlement/settlement.ts';
import { addTries, NO_TRIES, type TryCounts } from '../routing/try-counts.ts';
import { forkWorker, type WorkerProcess } from '../supervise/fork-worker.ts';
import { type Supervisor, superviseWorkers } from '../supervise/supervise-workers.ts';
import { createNodeEvents } from './create-node-events.ts';
import type { NodeMetrics } from './node-metrics.ts';
import { type NodeProbes, probeUpstreams } from './probe-upstreams.ts';
import { type ConfigInUse, isMoved, readNextConfig, versionOf } from './read-next-config.ts';
import { readNodeState, readUpstreamHealth } from './read-node-state.ts';
import { createReload, type Reload } from './reload.ts';
import { type ReloadAudit, reportReload } from './report-reload.ts';
import type { SoldCatalogue } from './sold-catalogue.ts';
import { takeOverConfig } from './take-over-config.ts';
import { createUpstreamEvents, type UpstreamEvents } from './upstream-events.ts';

/** Much more than the second after which a worker that listens reports again. */
const SILENT_MAX_MS = 10_000;

/**
 * The workers of a node with their settings: starts, reloads and stops them, and sums up what they
 * report.
 */
export interface WorkerPool {
  inUse(): ConfigInUse;
  /** Rejects when a worker cannot start at all. */
  start(): Promise<void>;
  readonly reload: Reload;
  /** While the books are full, no worker admits a request. Holds for later workers too. */
  announceBooksFull(isFull: boolean): void;
  announceMasters(news: MastersNews): void;
  /** Sends all workers what is sold now. */
  announceCatalogue(): void;
  readState(): NodeState;
  /** How many requests are open. */
  readOpen(): number;
  /**
   * The readiness of the worst worker, since the kernel chooses which worker a connection reaches.
   */
  readReadiness(): Readiness;
  /** Ends every worker once it has drained, or when its time is up. */
  stop(lingerMs: number): Promise<void>;
  killAll(): void;
}

interface WorkerPoolOptions {
  readonly first: ConfigInUse;
  readonly readSource: () => ConfigSource;
  readonly embeddedRedisPath: string | undefined;
  /** Resolves when the settlements are on the disk. */
  readonly journal: (settlements: readonly Settlement[]) => Promise<void>;
  /** Called with the settings that a reload has brought into use. */
  readonly onUse: (config: ConfigInUse['config']) => void;
  /** Takes what a worker has refused, about once a second and when it has drained. */
  readonly noteRefusals: (batch: RefusalBatch) => void;
  readonly sold: Pick<SoldCatalogue, 'currentFor' | 'findFor' | 'check'>;
  readonly audit: ReloadAudit;
  readonly publish: PublishEvent;
  readonly noteActivity: (activity: Activity) => void;
  /** Rejects if another node could not hold the limits of these plans. */
  readonly checkPlans: (plans: Config['plans']) => Promise<void>;
  readonly node: string;
  readonly nodeMetrics: Pick<NodeMetrics, 'metrics' | 'follow'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onGiveUp: (reason: Error) => void;
}

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { first, publish, node, clock, log } = options;
  const startedMs = clock.nowMs();
  let inUse = first;
  let areBooksFull = false;
  const endedTries = createEndedTries();
  const nodeEvents = createNodeEvents(options);
  const probes = probeUpstreams(first.config, {
    clock,
    log,
    onChange() {
      const names = probes.downNames();
      for (const worker of workers.workers()) worker.announceDownUpstreams(names);
    },
  });
  const upstreamEvents = createUpstreamEvents(publish, {
    names: () => inUse.config.upstreams.map(({ name }) => name),
    readHealth: (name) => readUpstreamHealth(workers.workers(), name),
  });
  const fork = createFork(options, {
    ...{ probes, nodeEvents, upstreamEvents, endedTries },
    areBooksFull: () => areBooksFull,
  });
  const workers: Supervisor = superviseWorkers({
    fork: (slot) => fork(slot, inUse),
    onReplace: () => options.nodeMetrics.metrics.workerRestarts.at({}).add(1),
    ...{ nowMs: () => performance.now(), log, onGiveUp: options.onGiveUp },
  });
  const adopt = (used: ConfigInUse) => {
    inUse = used;
    options.onUse(used.config);
    endedTries.keepOnly(used.config.upstreams.map(({ name }) => name));
  };

  return {
    inUse: () => inUse,
    start: () => workers.start(inUse.config.workers),
    reload: createPoolReload(options, {
      inUse: () => inUse,
      takeOver: (next) =>
        takeOverConfig({ workers, next, previous: inUse, ...createConfigSwitch(probes, adopt) }),
    }),
    announceBooksFull(isFull) {
      if (isFull === areBooksFull) return;
      areBooksFull = isFull;
      for (const worker of workers.workers()) worker.announceBooksFull(isFull);
    },
    announceMasters(news) {
      for (const worker of workers.workers()) worker.announceMasters(news);
    },
    announceCatalogue() {
      for (const worker of workers.workers()) worker.announceCatalogue();
    },
    readState: () =>
      readNodeState({
        ...{ nodeId: node, startedMs, probes, endedTries: endedTries.read() },
        inUse,
        models: options.sold.currentFor(inUse.config).models,
        workers: workers.workers(),
      }),
    readOpen: nodeEvents.readOpen,
    readReadiness: () => readReadiness(workers.workers()),
    stop: (lingerMs) => workers.stop({ timeoutMs: inUse.config.drain.timeoutMs, lingerMs }),
    killAll() {
      probes.stop();
      workers.killAll();
    },
  };
}

/** Connections reach the workers that listen, even one that hangs. */
function readReadiness(workers: readonly WorkerProcess[]): Readiness {
  const listening = workers.filter((worker) => worker.state() === 'listening');
  return findWorstReadiness(
    listening.map((worker) => {
      if (worker.silentForMs() > SILENT_MAX_MS) return 'unavailable';
      return worker.report()?.readiness ?? 'ok';
    }),
  );
}

function createConfigSwitch(
  probes: Pick<NodeProbes, 'changeConfig'>,
  adopt: (used: ConfigInUse) => void,
) {
  return {
    use(used: ConfigInUse) {
      probes.changeConfig(used.config);
      adopt(used);
    },
    restore(used: ConfigInUse) {
      adopt(used);
      // A file that the settings name may be gone since they were first in use.
      probes.changeConfig(used.config);
    },
  };
}

interface ReloadParts {
  readonly inUse: () => ConfigInUse;
  readonly takeOver: (next: ConfigInUse) => Promise<void>;
}

function createPoolReload(options: WorkerPoolOptions, { inUse, takeOver }: ReloadParts): Reload {
  const report = reportReload(options);
  return createReload({
    async readNext() {
      const next = readNextConfig(options.readSource, inUse());
      options.sold.check(next.config);
      await options.checkPlans(options.sold.currentFor(next.config).plans);
      if (isMoved(inUse().config, next.config)) await checkEndpointFree(next.config.listen);
      return next;
    },
    takeOver,
    inUse,
    versionOf,
    onEnd(run, who) {
      const result = run.end.kind === 'reloaded' ? 'ok' : 'refused';
      options.nodeMetrics.metrics.reloads.at({ result }).add(1);
      return report(run, who);
    },
    log: options.log,
  });
}

interface ForkParts {
  readonly areBooksFull: () => boolean;
  readonly probes: NodeProbes;
  readonly nodeEvents: ReturnType<typeof createNodeEvents>;
  readonly upstreamEvents: UpstreamEvents;
  readonly endedTries: ReturnType<typeof createEndedTries>;
}

function createFork(
  { embeddedRedisPath, journal, noteRefusals, nodeMetrics, sold }: WorkerPoolOptions,
  { areBooksFull, probes, nodeEvents, upstreamEvents, endedTries }: ForkParts,
): (slot: number, inUse: ConfigInUse) => WorkerProcess {
  return (slot, inUse) => {
    const order = {
      worker: slot,
      config: packConfig(inUse.config),
      configVersion: versionOf(inUse),
      embeddedRedisPath,
    };
    const links = {
      journal,
      catalogue: () => sold.currentFor(inUse.config),
      nextCatalogue: () => sold.findFor(inUse.config),
      noteRefusals,
      areBooksFull,
      downUpstreams: () => probes.downNames(),
      onReport: () => upstreamEvents.look(),
    };
    const worker = nodeEvents.follow(slot, (onActivity) =>
      forkWorker(order, { ...links, onActivity }),
    );
    void worker.exited.then(() => endedTries.add(worker));
    return nodeMetrics.follow(worker);
  };
}

/** Keeps the tries of workers that have ended, by upstream. */
function createEndedTries() {
  const tries = new Map<string, TryCounts>();
  return {
    read: (): ReadonlyMap<string, TryCounts> => tries,
    add(worker: WorkerProcess) {
      for (const { name, tries: last } of worker.report()?.upstreams ?? []) {
        tries.set(name, addTries(tries.get(name) ?? NO_TRIES, last));
      }
    },
    keepOnly(names: readonly string[]) {
      for (const name of tries.keys()) if (!names.includes(name)) tries.delete(name);
    },
  };
}
