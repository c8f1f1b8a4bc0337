import type { CatalogueConfig, Config } from '../config/config.ts';
import { packageVersion } from '../config/package-version.ts';
import type { UnreadList } from '../gateway/unread-list.ts';
import type { Server } from '../http/start-server.ts';
import { createProcessMetrics, type ProcessMetrics } from '../metrics/process-metrics.ts';
import { watchProcess } from '../metrics/watch-process.ts';
import { TRY_RESULTS, type Try } from '../protocol/try.ts';
import type { RedisWatch } from '../redis/watch-redis.ts';
import type { UpstreamState } from '../routing/router.ts';

interface Settings {
  readonly config: Pick<Config, 'upstreams'>;
  readonly catalogue: Pick<CatalogueConfig, 'models'>;
}

/**
 * The metrics of a worker. The values of its labels are the models that are sold and the upstreams
 * in the settings.
 */
export function createWorkerMetrics({ config, catalogue }: Settings): ProcessMetrics {
  const metrics = createProcessMetrics({
    models: catalogue.models.map(({ id }) => id),
    upstreams: config.upstreams.map(({ name }) => name),
    versions: [packageVersion()],
    nodeVersions: [process.version],
  });
  metrics.allowModels(catalogue.models);
  // Alerts ask for these series, and would miss the first try of a series that begins with it.
  for (const { name: upstream } of config.upstreams) {
    for (const result of TRY_RESULTS) metrics.upstreamTries.at({ upstream, result });
  }
  watchProcess(metrics, 'worker');
  metrics.workers.watch((set) => set({}, 1));
  return metrics;
}

interface WorkerParts {
  readonly server: Pick<Server, 'activeExchanges' | 'activeStreams'>;
  readonly unread: Pick<UnreadList, 'count'>;
  readonly redisWatch: Pick<RedisWatch, 'outForMs'>;
  /** Undefined if the settings file rules. */
  readonly catalogueVersion: () => number | undefined;
  readonly upstreams: { readReports(): readonly UpstreamState[] };
  readonly isDraining: () => boolean;
}

export function watchWorker(metrics: ProcessMetrics, parts: WorkerParts): void {
  const { server, unread, redisWatch, catalogueVersion, upstreams, isDraining } = parts;
  metrics.exchangesActive.watch((set) => set({}, server.activeExchanges));
  metrics.streamsActive.watch((set) => set({}, server.activeStreams));
  metrics.answersDraining.watch((set) => set({}, unread.count));
  metrics.redisUp.watch((set) => set({}, redisWatch.outForMs() === 0 ? 1 : 0));
  metrics.catalogueVersion.watch((set) => {
    const version = catalogueVersion();
    if (version !== undefined) set({}, version);
  });
  metrics.upstreamInFlight.watch((set) => {
    for (const { name, inFlight } of upstreams.readReports()) {
      set({ upstream: name }, inFlight);
    }
  });
  metrics.upstreamState.watch((set) => {
    // A draining worker hardly calls any more, so it would not notice that an upstream has
    // recovered.
    if (isDraining()) return;
    for (const { name, health } of upstreams.readReports()) {
      set({ upstream: name, state: health }, 1);
    }
  });
}

export function createObserveTries(metrics: ProcessMetrics): (tries: readonly Try[]) => void {
  return (tries) => {
    for (const [index, { upstream, result }] of tries.entries()) {
      metrics.upstreamTries.at({ upstream, result }).add(1);
      if (index > 0) metrics.upstreamRetries.at({ upstream }).add(1);
    }
  };
}
