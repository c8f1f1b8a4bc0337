import type { Config } from '../config/config.ts';
import { hashSharedSettings } from '../config/config-version.ts';
import { packageVersion } from '../config/package-version.ts';
import type { Log } from '../lib/log.ts';
import { createMetricsCollector, type MetricsCollector } from '../metrics/metrics-collector.ts';
import { createProcessMetrics, type ProcessMetrics } from '../metrics/process-metrics.ts';
import { watchProcess } from '../metrics/watch-process.ts';
import type { WorkerProcess } from '../supervise/fork-worker.ts';

export interface NodeMetrics {
  /** The metrics of the primary process itself. */
  readonly metrics: ProcessMetrics;
  readonly collector: MetricsCollector;
  /** Collects the metrics of this worker from now on, and returns the worker. */
  follow(worker: WorkerProcess): WorkerProcess;
}

interface NodeMetricsOptions {
  /** The settings in use, which a reload changes. */
  readonly configInUse: () => Config;
  readonly log: Log;
}

/** The metrics that the primary counts itself, and those it collects from its workers. */
export function createNodeMetrics({ configInUse, log }: NodeMetricsOptions): NodeMetrics {
  const metrics = createProcessMetrics({
    models: [],
    upstreams: [],
    versions: [packageVersion()],
    nodeVersions: [process.version],
  });
  watchProcess(metrics, 'primary');
  metrics.buildInfo.watch((set) => set({ version: packageVersion(), node: process.version }, 1));
  const hash = () => Number.parseInt(hashSharedSettings(configInUse()), 16);
  metrics.configHash.watch((set) => set({}, hash()));
  const silent = metrics.workersSilent.at({});
  const collector = createMetricsCollector({
    readOwn: metrics.read,
    onSilent: () => silent.add(1),
    log,
  });
  return {
    metrics,
    collector,
    follow(worker) {
      // A worker does not answer before it listens, and has counted nothing by then.
      worker.listening.then(
        () => collector.add(worker),
        () => {},
      );
      return worker;
    },
  };
}
