import type { Config } from '../config/config.ts';
import type { ConfigSource } from '../config/read-config-source.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { ClusterState } from '../ops/cluster-state.ts';
import type { Settlement } from '../quota/settlement.ts';
import { addTries, NO_TRIES, type TryCounts } from './create-try-counts.ts';
import { forkWorker, type WorkerProcess } from './fork-worker.ts';
import { probeUpstreams } from './probe-upstreams.ts';
import { readClusterState } from './read-cluster-state.ts';
import { type Supervisor, superviseWorkers } from './supervise-workers.ts';

export interface EffectiveConfig {
  readonly source: ConfigSource;
  readonly config: Config;
}

/** The workers of a node, and what they and the primary tell each other of upstreams. */
export interface Fleet extends Omit<Supervisor, 'workers'> {
  /** For workers that are forked from now on. Throws, with all as it was, when it cannot be used. */
  changeConfig(effective: EffectiveConfig): void;
  readState(): ClusterState;
}

interface FleetOptions {
  readonly effective: EffectiveConfig;
  readonly embeddedRedisPath: string | undefined;
  readonly nodeId: string;
  /** Resolves when the settlements are on the disk. */
  readonly journal: (settlements: readonly Settlement[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  /** Answers the same worker, whose metrics count from here on. */
  readonly follow: (worker: WorkerProcess) => WorkerProcess;
  /** A worker ended by itself and is replaced. */
  readonly onReplace: () => void;
  readonly onGiveUp: (reason: Error) => void;
}

export function createFleet(options: FleetOptions): Fleet {
  const { embeddedRedisPath, nodeId, journal, clock, log, onReplace, onGiveUp } = options;
  const startedMs = clock.nowMs();
  let { effective } = options;
  const endedTries = new Map<string, TryCounts>();

  const noteEnded = (worker: WorkerProcess) => {
    for (const { name, tries } of worker.report()?.upstreams ?? []) {
      endedTries.set(name, addTries(endedTries.get(name) ?? NO_TRIES, tries));
    }
  };
  const supervisor = superviseWorkers({
    fork(slot) {
      const worker = forkWorker(
        { worker: slot, source: effective.source, embeddedRedisPath },
        { journal, downUpstreams: () => probes.downNames() },
      );
      void worker.exited.then(() => noteEnded(worker));
      return options.follow(worker);
    },
    ...{ clock, log, onReplace, onGiveUp },
  });
  const probes = probeUpstreams(effective.config, {
    clock,
    log,
    onChange() {
      const names = probes.downNames();
      for (const worker of supervisor.workers()) worker.tellDownUpstreams(names);
    },
  });

  return {
    ...supervisor,
    changeConfig(next) {
      probes.changeConfig(next.config);
      effective = next;
      const names = new Set(next.config.upstreams.map(({ name }) => name));
      for (const name of endedTries.keys()) if (!names.has(name)) endedTries.delete(name);
    },
    readState: () =>
      readClusterState({
        ...{ nodeId, startedMs, probes, endedTries },
        config: effective.config,
        configPath: effective.source.path,
        workers: supervisor.workers(),
      }),
    killAll() {
      probes.stop();
      supervisor.killAll();
    },
  };
}
