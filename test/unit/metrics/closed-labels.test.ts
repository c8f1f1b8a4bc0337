import { describe, expect, it } from 'vitest';
import { METRICS } from '../../../src/metrics/metrics.ts';
import { createProcessMetrics } from '../../../src/metrics/process-metrics.ts';

const CONFIGURED = {
  models: ['m-1', 'm-2'],
  upstreams: ['main'],
  versions: ['1'],
  nodeVersions: ['v20'],
};

function seriesOf(metrics: ReturnType<typeof createProcessMetrics>, name: string) {
  return metrics.read().find((metric) => metric.name === name)?.values ?? [];
}

describe('the labels of a metric', () => {
  it('take what is declared, and anything else as `other`', () => {
    const metrics = createProcessMetrics(CONFIGURED);
    const labels = { route: 'native', status: '200', outcome: 'complete' };
    metrics.requests.at({ ...labels, model: 'm-1' }).add(1);
    metrics.requests.at({ ...labels, model: 'no-such-model' }).add(2);
    metrics.requests.at({ ...labels, model: 'nor-this-one' }).add(3);
    expect(seriesOf(metrics, METRICS.requests.name)).toEqual([
      { labels: { ...labels, model: 'm-1' }, value: 1 },
      { labels: { ...labels, model: 'other' }, value: 5 },
    ]);
  });

  it('make no more series however many values come', () => {
    const metrics = createProcessMetrics(CONFIGURED);
    for (let i = 0; i < 10_000; i++) {
      const odd = `odd-${i}`;
      metrics.requests.at({ route: odd, model: odd, status: odd, outcome: odd }).add(1);
      metrics.refusals.at({ refusal: odd }).add(1);
      metrics.requestSeconds.at({ route: odd, model: odd }).observe(1);
    }
    expect(seriesOf(metrics, METRICS.requests.name)).toHaveLength(1);
    const refusals = seriesOf(metrics, METRICS.refusals.name);
    expect(refusals).toHaveLength(METRICS.refusals.labels.refusal.length + 1);
    const { buckets } = METRICS.requestSeconds;
    expect(seriesOf(metrics, METRICS.requestSeconds.name)).toHaveLength(buckets.length + 3);
  });

  it('show a single label from the start, so that the first event is a change', () => {
    const metrics = createProcessMetrics(CONFIGURED);
    expect(seriesOf(metrics, METRICS.usageMissing.name)).toEqual([
      { labels: { model: 'm-1' }, value: 0 },
      { labels: { model: 'm-2' }, value: 0 },
      { labels: { model: 'unknown' }, value: 0 },
    ]);
    expect(seriesOf(metrics, METRICS.holdsSwept.name)).toEqual([{ labels: {}, value: 0 }]);
  });

  it('show each route of a model that is sold, so that the first event is a change', () => {
    const metrics = createProcessMetrics(CONFIGURED);
    metrics.allowModels([
      { id: 'm-1', routes: [{ upstream: 'main' }] },
      { id: 'new', routes: [{ upstream: 'main' }, { upstream: 'no-such-upstream' }] },
    ]);
    expect(seriesOf(metrics, METRICS.usageImplausible.name)).toEqual([
      { labels: { upstream: 'main', model: 'm-1' }, value: 0 },
      { labels: { upstream: 'main', model: 'new' }, value: 0 },
      { labels: { upstream: 'other', model: 'new' }, value: 0 },
    ]);
    const missing = seriesOf(metrics, METRICS.usageMissing.name).map(({ labels }) => labels);
    expect(missing).toContainEqual({ model: 'new' });
  });
});

describe('a histogram', () => {
  it('counts each value in its bucket and all above, bounds included', () => {
    const metrics = createProcessMetrics(CONFIGURED);
    const cell = metrics.admissionSeconds.at({});
    for (const value of [0, 0.0001, 0.0002, 2, 3]) cell.observe(value);
    const values = seriesOf(metrics, METRICS.admissionSeconds.name);
    const bucket = (le: number | string) => values.find(({ labels }) => labels['le'] === le)?.value;
    expect([bucket(0.0001), bucket(0.00025), bucket(1), bucket(2), bucket('+Inf')]).toEqual([
      2, 3, 3, 4, 5,
    ]);
    expect(values.at(-1)).toMatchObject({
      metricName: 'tollgate_admission_seconds_count',
      value: 5,
    });
    expect(values.at(-2)?.value).toBeCloseTo(5.0003);
  });
});

describe('a gauge', () => {
  it('has only what is reported now', () => {
    const metrics = createProcessMetrics(CONFIGURED);
    let states = ['open'];
    metrics.upstreamState.watch((set) => {
      for (const state of states) set({ upstream: 'main', state }, 1);
    });
    const shown = () => seriesOf(metrics, METRICS.upstreamState.name).map((each) => each.labels);
    expect(shown()).toEqual([{ upstream: 'main', state: 'open' }]);
    states = ['closed'];
    expect(shown()).toEqual([{ upstream: 'main', state: 'closed' }]);
  });
});

describe('the declarations', () => {
  const all = Object.values(METRICS);

  it('give each metric a name of its own, with our prefix', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    expect(all.filter(({ name }) => !/^tollgate_[a-z_]+$/.test(name))).toEqual([]);
  });

  it('have ascending buckets', () => {
    for (const metric of all) {
      if (metric.type !== 'histogram') continue;
      expect(metric.buckets, metric.name).toEqual([...metric.buckets].sort((a, b) => a - b));
    }
  });
});
