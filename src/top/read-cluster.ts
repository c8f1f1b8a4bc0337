import { toFields, toFieldsList, toNumber, toText, toTimeMs } from './read-fields.ts';

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
  const { node, redis, workers, upstreams } = toFields(body);
  return {
    nodeId: toText(toFields(node)['id']),
    version: toText(toFields(node)['version']),
    redisState: toText(toFields(redis)['state']),
    workers: toFieldsList(workers).map((worker) => ({
      worker: toNumber(worker['worker']),
      pid: toNumber(worker['pid']),
      state: toText(worker['state']),
      startedMs: toTimeMs(worker['started_at']),
    })),
    upstreams: toFieldsList(upstreams).map((upstream) => ({
      name: toText(upstream['name']),
      state: toText(upstream['state']),
      workers: toFieldsList(upstream['workers']).map((worker) => ({
        worker: toNumber(worker['worker']),
        inFlight: toNumber(worker['in_flight']),
        inFlightMax: toNumber(worker['max_concurrency']),
      })),
    })),
  };
}
