import type { Scrape } from '../../../src/top/build-view.ts';
import { parseMetrics } from '../../../src/top/parse-metrics.ts';
import { readCluster } from '../../../src/top/read-cluster.ts';

const START_MS = Date.parse('2030-01-01T00:00:00Z');

/**
 * The metrics of a node after this many seconds, in which everything was counted `seconds` times.
 */
export function metricsText(seconds: number): string {
  const histogram = (name: string, labels: string, le: number) =>
    [le / 2, le, '+Inf']
      .map((bound, index) => `${name}_bucket{${labels}le="${bound}"} ${index > 0 ? seconds : 0}`)
      .join('\n');
  return [
    `tollgate_requests_total{route="native",model="m",status="200",outcome="complete"} ${10 * seconds}`,
    `tollgate_requests_total{route="native",model="m",status="200",outcome="failed"} ${seconds}`,
    `tollgate_requests_total{route="chat",model="m",status="503",outcome="refused"} ${2 * seconds}`,
    `tollgate_requests_total{route="chat",model="m",status="429",outcome="refused"} ${4 * seconds}`,
    `tollgate_tokens_total{model="m",kind="input"} ${100 * seconds}`,
    `tollgate_tokens_total{model="m",kind="output"} ${50 * seconds}`,
    `tollgate_tokens_total{model="m",kind="thinking"} ${25 * seconds}`,
    `tollgate_credits_charged_total{model="m"} ${0.5 * seconds}`,
    'tollgate_streams_active 7',
    'tollgate_holds_active 9',
    'tollgate_settle_queue_depth 3',
    'tollgate_settle_journal_depth 1',
    'tollgate_redis_up 1',
    histogram('tollgate_request_duration_seconds', 'route="native",', 0.2),
    histogram('tollgate_time_to_first_token_seconds', 'route="native",', 0.04),
    histogram('tollgate_redis_command_duration_seconds', 'connection="admit",', 0.002),
    histogram('tollgate_redis_command_duration_seconds', 'connection="worker",', 2),
    histogram('tollgate_event_loop_lag_seconds', 'process="worker",', 0.01),
    'tollgate_memory_bytes{process="worker",kind="rss"} 104857600',
    'tollgate_memory_bytes{process="worker",kind="heap_used"} 1048576',
    'tollgate_memory_bytes{process="primary",kind="rss"} 1048576',
    'tollgate_upstream_in_flight{upstream="main"} 99',
    'tollgate_upstream_in_flight{upstream="spare"} 2',
    `tollgate_upstream_tries_total{upstream="main",result="ok"} ${20 * seconds}`,
    `tollgate_upstream_tries_total{upstream="main",result="slow"} ${4 * seconds}`,
    `tollgate_upstream_tries_total{upstream="main",result="left"} ${seconds}`,
    '',
  ].join('\n');
}

export const CLUSTER = {
  node: { id: 'node-1', version: '0.1.0' },
  redis: { state: 'up' },
  workers: [
    { worker: 1, pid: 101, state: 'running', started_at: '2030-01-01T00:00:00Z' },
    { worker: 2, pid: 102, state: 'draining', started_at: '2030-01-01T00:00:05Z' },
  ],
  upstreams: [
    {
      name: 'main',
      state: 'closed',
      workers: [
        { worker: 1, in_flight: 5, max_concurrency: 256 },
        { worker: 2, in_flight: 6, max_concurrency: 256 },
      ],
    },
  ],
};

export function scrapeAt(seconds: number, parts: Partial<Scrape> = {}): Scrape {
  return {
    atMs: START_MS + seconds * 1_000,
    metrics: parseMetrics(metricsText(seconds)),
    cluster: readCluster(CLUSTER),
    problems: [],
    ...parts,
  };
}
