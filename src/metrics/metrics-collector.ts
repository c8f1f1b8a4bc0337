import type { Log } from '../lib/log.ts';
import {
  countSamples,
  keepGrowing,
  type MetricsText,
  mergeSnapshots,
  printMetrics,
} from './merge-snapshots.ts';
import type { MetricSnapshot } from './metric-snapshot.ts';

/**
 * Bounds the samples of all workers that have ended. Only reloads with ever new names of models and
 * upstreams add to them.
 */
const ENDED_SAMPLES_MAX = 200_000;

/** A worker that reports metrics. */
export interface MetricsSource {
  /** Rejects if the worker does not answer in time. */
  readMetrics(): Promise<readonly MetricSnapshot[]>;
  /** Resolves when the worker is gone, with its last metrics if it reported any. */
  readonly lastMetrics: Promise<readonly MetricSnapshot[] | undefined>;
}

export interface MetricsCollector {
  add(source: MetricsSource): void;
  /** One page of all processes. Calls at the same time share it. */
  collect(): Promise<MetricsText>;
}

interface CollectorOptions {
  /** The metrics of this process itself. */
  readonly readOwn: () => readonly MetricSnapshot[];
  /** A worker did not answer in time. */
  readonly onSilent: () => void;
  readonly log: Log;
}

interface LastMetrics {
  metrics: readonly MetricSnapshot[];
}

/**
 * Sums over workers never go backwards. What an ended worker counted is kept: as reported when it
 * drained, or else as last seen. A worker that does not answer also counts as last seen.
 *
 *   added ──▶ asked at each scrape ──▶ gone: its counts are added to those of all ended workers
 */
export function createMetricsCollector(options: CollectorOptions): MetricsCollector {
  const { readOwn, onSilent, log } = options;
  const sources = new Map<MetricsSource, LastMetrics>();
  let ended: readonly MetricSnapshot[] = [];
  let running: Promise<MetricsText> | undefined;

  const keep = (last: readonly MetricSnapshot[]) => {
    const next = mergeSnapshots([ended, keepGrowing(last)]);
    if (countSamples(next) <= ENDED_SAMPLES_MAX) ended = next;
    else log.error({}, 'too many series: what an ended worker counted is forgotten');
  };

  const askOne = async (source: MetricsSource, seen: LastMetrics) => {
    try {
      seen.metrics = await source.readMetrics();
    } catch {
      seen.metrics = keepGrowing(seen.metrics);
      if (sources.has(source)) onSilent();
    }
  };

  const collect = async (): Promise<MetricsText> => {
    await Promise.all(Array.from(sources, ([source, seen]) => askOne(source, seen)));
    // Do not await anything from here to the page: a worker that ends meanwhile would count twice,
    // or not at all.
    const seen = Array.from(sources.values(), ({ metrics }) => metrics);
    return await printMetrics([readOwn(), ended, ...seen]);
  };

  return {
    add(source) {
      const seen: LastMetrics = { metrics: [] };
      sources.set(source, seen);
      void source.lastMetrics.then((last) => {
        sources.delete(source);
        keep(last ?? seen.metrics);
      });
    },
    collect() {
      running ??= collect().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}
