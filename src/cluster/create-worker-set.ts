import type { ConfigSource } from '../config/read-config-source.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { EventHub } from '../ops/create-event-hub.ts';
import type { Settlement } from '../quota/settlement.ts';
import { checkEndpointFree } from './check-endpoint-free.ts';
import { createNodeEvents } from './create-node-events.ts';
import { createReload, type Reload } from './create-reload.ts';
import { forkWorker } from './fork-worker.ts';
import { type EffectiveConfig, isMoved, readNextConfig, versionOf } from './read-next-config.ts';
import { superviseWorkers } from './supervise-workers.ts';
import { takeOverConfig } from './take-over-config.ts';
import { type ReloadAudit, tellReload } from './tell-reload.ts';

interface WorkerSetOptions {
  readonly first: EffectiveConfig;
  readonly readSource: () => ConfigSource;
  readonly embeddedRedisPath: string | undefined;
  /** Resolves when the settlements are on the disk. */
  readonly journal: (settlements: readonly Settlement[]) => Promise<void>;
  readonly audit: ReloadAudit;
  readonly hub: EventHub;
  readonly node: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onGiveUp: (reason: Error) => void;
}

/** The workers of a node, the settings that they have, and how they get others. */
export interface WorkerSet {
  effective(): EffectiveConfig;
  /** Rejects when a worker cannot start at all. */
  start(): Promise<void>;
  readonly reload: Reload;
  /** Ends every worker, after its drain or the time for it. */
  stop(lingerMs: number): Promise<void>;
  killAll(): void;
}

export function createWorkerSet(options: WorkerSetOptions): WorkerSet {
  const { first, readSource, embeddedRedisPath, journal, hub, clock, log, onGiveUp } = options;
  let effective = first;
  const nodeEvents = createNodeEvents(hub);
  const workers = superviseWorkers({
    fork(worker) {
      const { source, count } = effective;
      const order = { worker, source, configCount: count, embeddedRedisPath };
      return nodeEvents.follow(worker, (onActivity) => forkWorker(order, journal, onActivity));
    },
    ...{ clock, log, onGiveUp },
  });
  const reload = createReload({
    async readNext() {
      const next = readNextConfig(readSource, effective);
      if (isMoved(effective.config, next.config)) await checkEndpointFree(next.config.listen);
      return next;
    },
    takeOver: (next) =>
      takeOverConfig({
        ...{ workers, next, previous: effective },
        use(used) {
          effective = used;
        },
      }),
    version: () => versionOf(effective),
    onEnd: tellReload(options),
    log,
  });
  return {
    effective: () => effective,
    start: () => workers.start(effective.config.workers),
    reload,
    stop: (lingerMs) => workers.stop({ timeoutMs: effective.config.drain.timeoutMs, lingerMs }),
    killAll() {
      nodeEvents.stop();
      workers.killAll();
    },
  };
}
