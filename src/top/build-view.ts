import { type Interval, quantileOf, rateOf, sumOf, type Wanted } from './measure.ts';
import type { MetricsPage } from './parse-metrics.ts';
import type { ClusterPage } from './read-cluster.ts';

/** What a node has told at one moment; what it does not tell is undefined. */
export interface Scrape {
  readonly atMs: number;
  readonly metrics: MetricsPage | undefined;
  readonly cluster: ClusterPage | undefined;
  /** Why something is missing. */
  readonly problems: readonly string[];
}

type Known<Value> = Value | null;

export interface Quantiles {
  readonly p50: Known<number>;
  readonly p99: Known<number>;
}

export interface UpstreamView {
  readonly name: Known<string>;
  readonly state: Known<string>;
  readonly in_flight: Known<number>;
  readonly in_flight_max: Known<number>;
  readonly tries_per_second: Known<number>;
  readonly failures_per_second: Known<number>;
}

export interface WorkerView {
  readonly worker: Known<number>;
  readonly pid: Known<number>;
  readonly state: Known<string>;
  readonly in_flight: Known<number>;
  readonly uptime_seconds: Known<number>;
}

/** Everything that is shown, as `--json` prints it: null is what is not known. */
export interface TopView {
  readonly node: Known<string>;
  readonly version: Known<string>;
  readonly problems: readonly string[];
  readonly requests_per_second: Known<number>;
  readonly errors_per_second: Known<number>;
  readonly streams: Known<number>;
  readonly tokens_per_second: Known<number>;
  readonly credits_per_second: Known<number>;
  readonly latency_seconds: Quantiles;
  readonly first_token_seconds: Quantiles;
  readonly redis: { readonly state: Known<string>; readonly latency_seconds: Quantiles };
  readonly holds: Known<number>;
  readonly settle_queue: Known<number>;
  readonly settle_journal: Known<number>;
  readonly upstreams: readonly UpstreamView[];
  /** Memory and lag are of all workers together. */
  readonly workers_memory_bytes: Known<number>;
  readonly workers_lag_seconds: Quantiles;
  readonly workers: readonly WorkerView[];
}

/** Tries that say nothing against their upstream. */
const HARMLESS_RESULTS = ['ok', 'left', 'refused'];

const isError: Wanted = (labels) =>
  labels.get('outcome') === 'failed' || /^5/.test(labels.get('status') ?? '');
// The output has them already.
const isNotThinking: Wanted = (labels) => labels.get('kind') !== 'thinking';
const isAdmission: Wanted = (labels) => labels.get('connection') === 'admit';
const isWorker: Wanted = (labels) => labels.get('process') === 'worker';
const isWorkerRss: Wanted = (labels) => isWorker(labels) && labels.get('kind') === 'rss';

/** Rates and quantiles are of the time between two scrapes; without a first one they are not known. */
export function buildView(before: Scrape | undefined, after: Scrape): TopView {
  const { metrics, cluster } = after;
  const interval: Interval = {
    before: before?.metrics,
    after: metrics,
    seconds: before === undefined ? 0 : (after.atMs - before.atMs) / 1_000,
  };
  const quantiles = (name: string, isWanted?: Wanted): Quantiles => ({
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
      state: cluster?.redisState ?? tellRedisState(metrics),
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

function tellRedisState(metrics: MetricsPage | undefined): string | null {
  const up = sumOf(metrics, 'tollgate_redis_up');
  if (up === undefined) return null;
  return up === 1 ? 'up' : 'out';
}

/** Those that either source names; a node that shows no state may still count tries. */
function viewUpstreams(cluster: ClusterPage | undefined, interval: Interval): UpstreamView[] {
  const { after } = interval;
  const known = new Map((cluster?.upstreams ?? []).map((upstream) => [upstream.name, upstream]));
  const counted = (after?.get('tollgate_upstream_in_flight') ?? []).map(({ labels }) =>
    labels.get('upstream'),
  );
  return [...new Set([...known.keys(), ...counted])].map((name) => {
    const isOfIt: Wanted = (labels) => labels.get('upstream') === name;
    const isFailure: Wanted = (labels) =>
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

function viewWorkers({ cluster, atMs }: Scrape): WorkerView[] {
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
