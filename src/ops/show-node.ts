import { showTime } from '../lib/time/show-time.ts';
import type { NodeState, UpstreamStatus } from './node-state.ts';

/** A node as operators see it. */
export function showNode({ node, workers, upstreams, redis }: NodeState) {
  return {
    node: {
      id: node.id,
      version: node.version,
      started_at: showTime(node.startedMs),
      config: { path: node.configPath ?? null, version: node.configVersion },
    },
    workers: workers.map(({ worker, pid, state, startedMs }) => {
      return { worker, pid, state, started_at: showTime(startedMs) };
    }),
    upstreams: upstreams.map(showUpstream),
    redis: {
      state: redis.state,
      embedded: redis.isEmbedded,
      topology: redis.topology,
      out_for_ms: redis.outForMs,
    },
  };
}

function showUpstream({ url, probe, workers, ...upstream }: UpstreamStatus) {
  return {
    ...{ name: upstream.name, kind: upstream.kind, url: url ?? null },
    models: [...upstream.models],
    state: upstream.state,
    probe:
      probe === undefined
        ? null
        : { path: probe.path, state: probe.state, last_result: probe.lastResult ?? null },
    workers: workers.map((worker) => ({
      worker: worker.worker,
      pid: worker.pid,
      state: worker.state,
      in_flight: worker.inFlight,
      max_concurrency: worker.concurrencyMax,
      rest_ms: worker.restMs,
    })),
    tries: { ...upstream.tries },
  };
}
