import { fieldsOf, listOf, numberOf, textOf, timeOf } from './read-fields.ts';

export interface ClusterPage {
  readonly nodeId: string | undefined;
  readonly version: string | undefined;
  readonly redisState: string | undefined;
  readonly workers: readonly ClusterWorker[];
  readonly upstreams: readonly ClusterUpstream[];
}

interface ClusterWorker {
  readonly worker: number | undefined;
  readonly pid: number | undefined;
  readonly state: string | undefined;
  readonly startedMs: number | undefined;
}

interface ClusterUpstream {
  readonly name: string | undefined;
  readonly state: string | undefined;
  readonly workers: readonly UpstreamOfWorker[];
}

interface UpstreamOfWorker {
  readonly worker: number | undefined;
  readonly inFlight: number | undefined;
  readonly inFlightMax: number | undefined;
}

/**
 * Reads the answer of `GET /admin/v1/cluster`. A field that another version leaves out is undefined
 * here.
 */
export function readCluster(body: unknown): ClusterPage {
  const { node, redis, workers, upstreams } = fieldsOf(body);
  return {
    nodeId: textOf(fieldsOf(node)['id']),
    version: textOf(fieldsOf(node)['version']),
    redisState: textOf(fieldsOf(redis)['state']),
    workers: listOf(workers).map((worker) => ({
      worker: numberOf(worker['worker']),
      pid: numberOf(worker['pid']),
      state: textOf(worker['state']),
      startedMs: timeOf(worker['started_at']),
    })),
    upstreams: listOf(upstreams).map((upstream) => ({
      name: textOf(upstream['name']),
      state: textOf(upstream['state']),
      workers: listOf(upstream['workers']).map((worker) => ({
        worker: numberOf(worker['worker']),
        inFlight: numberOf(worker['in_flight']),
        inFlightMax: numberOf(worker['max_concurrency']),
      })),
    })),
  };
}
