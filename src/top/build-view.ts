import { type Interval, quantileOf, rateOf, type SampleFilter, sumOf } from './measure.ts';
import type { MetricsPage } from './parse-metrics.ts';
import type { ClusterPage } from './read-cluster.ts';

/** What a node reported at one moment. Undefined where it reported nothing. */
export interface Scrape {
  readonly atMs: number;
  readonly metrics: MetricsPage | undefined;
  readonly cluster: ClusterPage | undefined;
  /** Why something is missing. */
  readonly problems: readonly string[];
}

type OrNull<Value> = Value | null;

export interface Quantiles {
  readonly p50: OrNull<number>;
  readonly p99: OrNull<number>;
}

interface UpstreamRow {
  readonly name: OrNull<string>;
  readonly state: OrNull<string>;
  readonly in_flight: OrNull<number>;
  readonly in_flight_max: OrNull<number>;
  readonly tries_per_second: OrNull<number>;
  readonly failures_per_second: OrNull<number>;
}

interface WorkerRow {
  readonly worker: OrNull<number>;
  readonly pid: OrNull<number>;
  readonly state: OrNull<string>;
  readonly in_flight: OrNull<number>;
  readonly uptime_seconds: OrNull<number>;
}

/** Everything that is shown, as `--json` prints it. Null if it is not known. */
export interface TopView {
  readonly node: OrNull<string>;
  readonly version: OrNull<string>;
  readonly problems: readonly string[];
  readonly requests_per_second: OrNull<number>;
  readonly errors_per_second: OrNull<number>;
  readonly streams: OrNull<number>;
  readonly tokens_per_second: OrNull<number>;
  readonly credits_per_second: OrNull<number>;
  readonly latency_seconds: Quantiles;
  readonly first_token_seconds: Quantiles;
  readonly redis: { readonly state: OrNull<string>; readonly latency_seconds: Quantiles };
  readonly holds: OrNull<number>;
  readonly settle_queue: OrNull<number>;
  readonly settle_journal: OrNull<number>;
  readonly upstreams: readonly UpstreamRow[];
  /** The memory and lag of all workers together. */
  readonly workers_memory_bytes: OrNull<number>;
  readonly workers_lag_seconds: Quantiles;
  readonly workers: readonly WorkerRow[];
}

/** Results of tries that do not speak against their upstream. */
const HARMLESS_RESULTS = ['ok', 'left', 'refused', 'oversize'];

const isError: SampleFilter = (labels) =>
  labels.get('outcome') === 'failed' || /^5/.test(labels.get('status') ?? '');
// The count of output tokens includes them already.
const isNotThinking: SampleFilter = (labels) => labels.get('kind') !== 'thinking';
const isAdmission: SampleFilter = (labels) => labels.get('connection') === 'admit';
const isWorker: SampleFilter = (labels) => labels.get('process') === 'worker';
const isWorkerRss: SampleFilter = (labels) => isWorker(labels) && labels.get('kind') === 'rss';

/**
 * Rates and quantiles are computed between two scrapes. They are not known without a first scrape.
 */
export function buildView(before: Scrape | undefined, after: Scrape): TopView {
  const { metrics, cluster } = after;
  const interval: Interval = {
    before: before?.metrics,
    after: metrics,
    seconds: before === undefined ? 0 : (after.atMs - before.atMs) / 1_000,
  };
  const quantiles = (name: string, isWanted?: SampleFilter): Quantiles => ({
    p50: quantileOf(interval, name, 0.5, isWanted) ?? null,
    p99: quantileOf(interval, name, 0.99, isWanted) ?? null,
  });
  return {
    node: cluster?.nodeId ?? null,
    version: cluster?.version ?? null,
    problems: after.problems,
    requests_per_second: rateOf(interval, 'tollgate_requests_total') ?? null,
    errors_per_second: rateOf(interval, 'tollgate_requests_total', isError) ?? null,
    streams: sumOf(metrics, 'tollgate_streams_active') ?? null,
    tokens_per_second: rateOf(interval, 'tollgate_tokens_total', isNotThinking) ?? null,
    credits_per_second: rateOf(interval, 'tollgate_credits_charged_total') ?? null,
    latency_seconds: quantiles('tollgate_request_duration_seconds'),
    first_token_seconds: quantiles('tollgate_time_to_first_token_seconds'),
    redis: {
      state: cluster?.redisState ?? readRedisState(metrics),
      latency_seconds: quantiles('tollgate_redis_command_duration_seconds', isAdmission),
    },
    holds: sumOf(metrics, 'tollgate_holds_active') ?? null,
    settle_queue: sumOf(metrics, 'tollgate_settle_queue_depth') ?? null,
    settle_journal: sumOf(metrics, 'tollgate_settle_journal_depth') ?? null,
    upstreams: viewUpstreams(cluster, interval),
    workers_memory_bytes: sumOf(metrics, 'tollgate_memory_bytes', isWorkerRss) ?? null,
    workers_lag_seconds: quantiles('tollgate_event_loop_lag_seconds', isWorker),
    workers: viewWorkers(after),
  };
}

function readRedisState(metrics: MetricsPage | undefined): string | null {
  const up = sumOf(metrics, 'tollgate_redis_up');
  if (up === undefined) return null;
  return up === 1 ? 'up' : 'out';
}

/** The upstreams that either source names. A node that shows no state may still count tries. */
function viewUpstreams(cluster: ClusterPage | undefined, interval: Interval): UpstreamRow[] {
  const { after } = interval;
  const known = new Map((cluster?.upstreams ?? []).map((upstream) => [upstream.name, upstream]));
  const counted = (after?.get('tollgate_upstream_in_flight') ?? []).map(({ labels }) =>
    labels.get('upstream'),
  );
  return [...new Set([...known.keys(), ...counted])].map((name) => {
    const isOfIt: SampleFilter = (labels) => labels.get('upstream') === name;
    const isFailure: SampleFilter = (labels) =>
      isOfIt(labels) && !HARMLESS_RESULTS.includes(labels.get('result') ?? '');
    const upstream = known.get(name);
    const workers = upstream?.workers ?? [];
    return {
      name: name ?? null,
      state: upstream?.state ?? null,
      in_flight:
        sumKnown(workers.map(({ inFlight }) => inFlight)) ??
        sumOf(after, 'tollgate_upstream_in_flight', isOfIt) ??
        null,
      in_flight_max: sumKnown(workers.map(({ inFlightMax }) => inFlightMax)) ?? null,
      tries_per_second: rateOf(interval, 'tollgate_upstream_tries_total', isOfIt) ?? null,
      failures_per_second: rateOf(interval, 'tollgate_upstream_tries_total', isFailure) ?? null,
    };
  });
}

function viewWorkers({ cluster, atMs }: Scrape): WorkerRow[] {
  return (cluster?.workers ?? []).map(({ worker, pid, state, startedMs }) => ({
    worker: worker ?? null,
    pid: pid ?? null,
    state: state ?? null,
    in_flight:
      sumKnown(
        (cluster?.upstreams ?? []).flatMap(({ workers }) =>
          workers.filter((each) => each.worker === worker).map(({ inFlight }) => inFlight),
        ),
      ) ?? null,
    uptime_seconds:
      startedMs === undefined ? null : Math.max(0, Math.floor((atMs - startedMs) / 1_000)),
  }));
}

function sumKnown(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}
