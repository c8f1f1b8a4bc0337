import type { Config, ModelConfig, UpstreamConfig } from '../config/config.ts';
import { packageVersion } from '../config/package-version.ts';
import type { NodeState, UpstreamStatus } from '../ops/node-state.ts';
import type { UpstreamHealth } from '../routing/shared-upstream.ts';
import { addTries, NO_TRIES, type TryCounts } from '../routing/try-counts.ts';
import type { WorkerProcess } from '../supervise/fork-worker.ts';
import type { NodeProbes } from './probe-upstreams.ts';
import { type ConfigInUse, versionOf } from './read-next-config.ts';

/** The states of health, from the best to the worst. */
const BY_WEIGHT: readonly UpstreamHealth[] = ['closed', 'paused', 'half-open', 'open', 'down'];

interface NodeParts {
  readonly nodeId: string;
  readonly startedMs: number;
  readonly inUse: ConfigInUse;
  /** Those that are sold. */
  readonly models: readonly ModelConfig[];
  readonly workers: readonly WorkerProcess[];
  readonly probes: NodeProbes;
  /** The tries of workers that have ended, by upstream. */
  readonly endedTries: ReadonlyMap<string, TryCounts>;
}

/** Builds the state from the last report of each worker. */
export function readNodeState(parts: NodeParts): NodeState {
  const { inUse, workers } = parts;
  const { config, source } = inUse;
  return {
    node: {
      id: parts.nodeId,
      version: packageVersion(),
      startedMs: parts.startedMs,
      configPath: source.path,
      configVersion: versionOf(inUse),
    },
    workers: workers.map(({ slot, pid, state, startedMs }) => {
      return { worker: slot, pid, state: state(), startedMs };
    }),
    upstreams: config.upstreams.map((upstream) => viewUpstream(upstream, parts)),
    redis: viewRedis(config, workers),
  };
}

/**
 * The worst health that any worker reports. Undefined until a worker has reported. A draining
 * worker hardly calls an upstream any more, so it would keep reporting one that has recovered: it
 * counts only while no other worker has reported.
 */
export function readUpstreamHealth(
  workers: readonly WorkerProcess[],
  name: string,
): UpstreamHealth | undefined {
  const all = readReports(workers, name);
  const staying = all.filter(({ worker }) => worker.state() !== 'draining');
  const states = (staying.length > 0 ? staying : all).map(({ report }) => report.health);
  return BY_WEIGHT.findLast((state) => states.includes(state));
}

function readReports(workers: readonly WorkerProcess[], name: string) {
  return workers.flatMap((worker) => {
    const report = worker.report()?.upstreams.find((each) => each.name === name);
    return report === undefined ? [] : [{ worker, report }];
  });
}

function viewUpstream({ name, kind, url, probe }: UpstreamConfig, parts: NodeParts) {
  const found = parts.probes.find(name);
  const reports = readReports(parts.workers, name);
  const view: UpstreamStatus = {
    ...{ name, kind, url },
    models: parts.models
      .filter(({ routes }) => routes.some(({ upstream }) => upstream === name))
      .map(({ id }) => id),
    state: readUpstreamHealth(parts.workers, name) ?? 'unknown',
    probe: probe && {
      path: probe.path,
      state: found?.lastResult() === undefined ? 'unknown' : found.isDown() ? 'down' : 'up',
      lastResult: found?.lastResult(),
    },
    workers: reports.map(({ worker, report }) => ({
      worker: worker.slot,
      pid: worker.pid,
      state: report.health,
      inFlight: report.inFlight,
      concurrencyMax: report.concurrencyMax,
      restMs: Math.ceil(report.restMs),
    })),
    tries: reports
      .map(({ report }) => report.tries)
      .reduce(addTries, parts.endedTries.get(name) ?? NO_TRIES),
  };
  return view;
}

function viewRedis({ redis }: Config, workers: readonly WorkerProcess[]): NodeState['redis'] {
  const reported = workers.flatMap((worker) => worker.report()?.storeOutForMs ?? []);
  const outForMs = Math.max(0, ...reported);
  return {
    state: reported.length === 0 ? 'unknown' : outForMs > 0 ? 'out' : 'up',
    isEmbedded: redis === 'embedded',
    topology: redis === 'embedded' ? 'standalone' : redis.topology,
    outForMs,
  };
}
