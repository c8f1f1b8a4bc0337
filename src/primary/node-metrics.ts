import type { Config } from '../config/config.ts';
import { hashSettings } from '../config/config-version.ts';
import { packageVersion } from '../config/package-version.ts';
import type { Log } from '../lib/log.ts';
import { createMetricsCollector, type MetricsCollector } from '../metrics/metrics-collector.ts';
import { createProcessMetrics, type ProcessMetrics } from '../metrics/process-metrics.ts';
import { watchProcess } from '../metrics/watch-process.ts';
import type { WorkerProcess } from '../supervise/fork-worker.ts';

export interface NodeMetrics {
  /** The primary's own. */
  readonly metrics: ProcessMetrics;
  readonly collector: MetricsCollector;
  /** Answers the same worker, whose metrics count from here on. */
  follow(worker: WorkerProcess): WorkerProcess;
}

interface NodeMetricsOptions {
  /** As it is after the last reload. */
  readonly config: () => Config;
  readonly log: Log;
}

/** What the primary counts itself, and what it collects from its workers. */
export function createNodeMetrics({ config, log }: NodeMetricsOptions): NodeMetrics {
  const metrics = createProcessMetrics({
    models: [],
    upstreams: [],
    versions: [packageVersion()],
    nodeVersions: [process.version],
  });
  watchProcess(metrics, 'primary');
  metrics.buildInfo.watch((set) => set({ version: packageVersion(), node: process.version }, 1));
  metrics.configHash.watch((set) => set({}, Number.parseInt(hashSettings(config()), 16)));
  const unread = metrics.workersUnread.at({});
  const collector = createMetricsCollector({
    readOwn: metrics.read,
    onUnread: () => unread.add(1),
    log,
  });
  return {
    metrics,
    collector,
    follow(worker) {
      // Before it listens it answers nothing, and has counted nothing.
      worker.listening.then(
        () => collector.add(worker),
        () => {},
      );
      return worker;
    },
  };
}
