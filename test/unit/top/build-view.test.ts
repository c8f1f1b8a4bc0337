import { describe, expect, it } from 'vitest';
import { buildView } from '../../../src/top/build-view.ts';
import { readCluster } from '../../../src/top/read-cluster.ts';
import { scrapeAt } from './top-scene.ts';

const UNKNOWN = { p50: null, p99: null };

describe('the view of a node', () => {
  it('has rates and quantiles of the time between two looks', () => {
    const view = buildView(scrapeAt(10), scrapeAt(20));
    expect(view).toMatchObject({
      node: 'node-1',
      version: '0.1.0',
      requests_per_second: 17,
      errors_per_second: 3,
      streams: 7,
      tokens_per_second: 150,
      credits_per_second: 0.5,
      holds: 9,
      settle_queue: 3,
      settle_journal: 1,
      workers_memory_bytes: 104_857_600,
    });
    expect(view.latency_seconds.p50).toBeCloseTo(0.15);
    expect(view.first_token_seconds.p50).toBeCloseTo(0.03);
    expect(view.redis).toMatchObject({ state: 'up' });
    expect(view.redis.latency_seconds.p50).toBeCloseTo(0.0015);
    expect(view.workers_lag_seconds.p99).toBeCloseTo(0.00995);
  });

  it('has the upstreams of both sources, and what each worker has there', () => {
    const { upstreams, workers } = buildView(scrapeAt(10), scrapeAt(20));
    expect(upstreams).toEqual([
      {
        name: 'main',
        state: 'closed',
        in_flight: 11,
        in_flight_max: 512,
        tries_per_second: 25,
        failures_per_second: 4,
      },
      {
        name: 'spare',
        state: null,
        in_flight: 2,
        in_flight_max: null,
        tries_per_second: 0,
        failures_per_second: 0,
      },
    ]);
    expect(workers).toEqual([
      { worker: 1, pid: 101, state: 'running', in_flight: 5, uptime_seconds: 20 },
      { worker: 2, pid: 102, state: 'draining', in_flight: 6, uptime_seconds: 15 },
    ]);
  });

  it('knows no rates after one look, and what only one source tells', () => {
    const first = buildView(undefined, scrapeAt(20));
    expect(first).toMatchObject({
      requests_per_second: null,
      latency_seconds: UNKNOWN,
      streams: 7,
    });
    const metricsOnly = { cluster: undefined };
    const counted = buildView(scrapeAt(10, metricsOnly), scrapeAt(20, metricsOnly));
    expect(counted).toMatchObject({
      node: null,
      redis: { state: 'up' },
      requests_per_second: 17,
      workers: [],
    });
    expect(counted.upstreams.map(({ name, in_flight }) => [name, in_flight])).toEqual([
      ['main', 99],
      ['spare', 2],
    ]);
    const clusterOnly = { metrics: undefined, problems: ['/metrics answers with status 404'] };
    const shown = buildView(scrapeAt(10, clusterOnly), scrapeAt(20, clusterOnly));
    expect(shown).toMatchObject({
      problems: ['/metrics answers with status 404'],
      requests_per_second: null,
      streams: null,
      upstreams: [{ name: 'main', in_flight: 11, tries_per_second: null }],
    });
  });

  it('takes an answer of another version for what it has', () => {
    const nothing = {
      nodeId: undefined,
      version: undefined,
      redisState: undefined,
      workers: [],
      upstreams: [],
    };
    for (const body of [null, 1, [], {}, { node: 1, workers: {}, upstreams: null }]) {
      expect(readCluster(body)).toEqual(nothing);
    }
    const cluster = readCluster({ workers: [{ pid: 'x', started_at: 'soon' }], upstreams: [{}] });
    expect(buildView(undefined, scrapeAt(0, { cluster, metrics: undefined }))).toMatchObject({
      workers: [{ worker: null, pid: null, state: null, in_flight: null, uptime_seconds: null }],
      upstreams: [{ name: null, in_flight: null }],
    });
  });
});
