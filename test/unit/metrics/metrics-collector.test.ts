import { describe, expect, it } from 'vitest';
import type { MetricSnapshot } from '../../../src/metrics/metric-snapshot.ts';
import {
  createMetricsCollector,
  type MetricsSource,
} from '../../../src/metrics/metrics-collector.ts';
import { createProcessMetrics } from '../../../src/metrics/process-metrics.ts';
import { sumSeries } from '../../support/clients/scrape.ts';
import { createMemoryLog } from '../../support/memory-log.ts';

const CONFIGURED = { models: [], upstreams: [], versions: [], nodeVersions: [] };

function createProcess() {
  const metrics = createProcessMetrics(CONFIGURED);
  metrics.workers.watch((set) => set({}, 1));
  return metrics;
}

/** A worker that answers, can be stuck, and ends with or without last words. */
function createWorker() {
  const metrics = createProcess();
  let end: (last: readonly MetricSnapshot[] | undefined) => void = () => {};
  const worker = {
    isStuck: false,
    beforeAnswer: () => {},
    swept: (count: number) => metrics.holdsSwept.at({}).add(count),
    lag: (seconds: number) => metrics.eventLoopLag.at({ process: 'worker' }).observe(seconds),
    drain: () => end(metrics.read()),
    die: () => end(undefined),
  };
  const source: MetricsSource = {
    async readMetrics() {
      worker.beforeAnswer();
      if (worker.isStuck) throw new Error('no answer');
      return metrics.read();
    },
    lastMetrics: new Promise((resolve) => {
      end = resolve;
    }),
  };
  return { ...worker, worker, source };
}

function createScene() {
  const silent: string[] = [];
  const collector = createMetricsCollector({
    readOwn: createProcessMetrics(CONFIGURED).read,
    onSilent: () => silent.push('one'),
    log: createMemoryLog(),
  });
  const [a, b] = [createWorker(), createWorker()];
  collector.add(a.source);
  collector.add(b.source);
  const sum = async (name: string, labels = {}) =>
    sumSeries((await collector.collect()).text, `tollgate_${name}`, labels);
  return { collector, silent, a, b, sum };
}

describe('the collector of metrics', () => {
  it('adds up counters, gauges and histograms of all workers', async () => {
    const { a, b, sum } = createScene();
    a.swept(3);
    b.swept(4);
    a.lag(0.02);
    b.lag(3);
    expect(await sum('holds_swept_total')).toBe(7);
    expect(await sum('workers')).toBe(2);
    expect(await sum('event_loop_lag_seconds_bucket', { le: '0.025', process: 'worker' })).toBe(1);
    expect(await sum('event_loop_lag_seconds_bucket', { le: '+Inf', process: 'worker' })).toBe(2);
  });

  it('keeps the last words of a worker that drained, and the last answer of one that died', async () => {
    const { a, b, sum } = createScene();
    a.swept(3);
    b.swept(4);
    expect(await sum('holds_swept_total')).toBe(7);
    a.swept(10);
    b.swept(100);
    a.drain();
    b.die();
    await Promise.all([a.source.lastMetrics, b.source.lastMetrics]);
    expect(await sum('holds_swept_total')).toBe(17);
    expect(await sum('workers')).toBeUndefined();
  });

  it('counts a worker once that ends while the others are asked', async () => {
    const { a, b, sum } = createScene();
    a.swept(3);
    b.swept(4);
    a.worker.beforeAnswer = () => a.drain();
    expect(await sum('holds_swept_total')).toBe(7);
    expect(await sum('holds_swept_total')).toBe(7);
  });

  it('shows a stuck worker as it was last seen, without its gauges, and says so', async () => {
    const { a, silent, sum } = createScene();
    a.swept(3);
    await sum('holds_swept_total');
    a.swept(1);
    a.worker.isStuck = true;
    expect(await sum('holds_swept_total')).toBe(3);
    expect(await sum('workers')).toBe(1);
    expect(silent).toHaveLength(2);
    a.worker.isStuck = false;
    expect(await sum('holds_swept_total')).toBe(4);
    expect(await sum('workers')).toBe(2);
  });

  it('asks once for all that scrape at the same time', async () => {
    const { collector, a } = createScene();
    let asked = 0;
    a.worker.beforeAnswer = () => {
      asked++;
    };
    await Promise.all([collector.collect(), collector.collect(), collector.collect()]);
    expect(asked).toBe(1);
    await collector.collect();
    expect(asked).toBe(2);
  });
});
