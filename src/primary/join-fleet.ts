import { hostname } from 'node:os';
import type { BooksThreads } from '../bookkeeping/start-books-threads.ts';
import type { Config } from '../config/config.ts';
import { hashSharedSettings } from '../config/config-version.ts';
import type { OwnNode } from '../fleet/own-node.ts';
import { type Fleet, startFleet } from '../fleet/start-fleet.ts';
import { formatEndpoint } from '../lib/address/parse-endpoint.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { LIMITS_FORMAT } from '../limits/limit.ts';
import { createObserveCommand } from '../metrics/observe-redis.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import { showNode } from '../ops/show-node.ts';
import type { Sweeper } from '../quota/sweeping/sweep-buckets.ts';
import type { OperatorAccess } from './open-operator-access.ts';
import type { Reload } from './reload.ts';
import type { SoldCatalogue } from './sold-catalogue.ts';
import type { WorkerPool } from './worker-pool.ts';

interface JoinOptions {
  readonly target: RedisTarget;
  readonly node: string;
  readonly pool: Pick<WorkerPool, 'inUse' | 'readState' | 'readOpen'>;
  readonly access: Pick<OperatorAccess, 'hear'>;
  readonly threads: Pick<BooksThreads, 'report'>;
  readonly sold: Pick<SoldCatalogue, 'state'>;
  readonly sweeper: Pick<Sweeper, 'bucketCount'>;
  readonly reload: Reload;
  readonly metrics: ProcessMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the node known to all others on its Redis, and them to it. */
export function joinFleet(options: JoinOptions): Fleet {
  const { target, node, access, reload, metrics, clock, log, pool } = options;
  const fleet = startFleet({
    ...{ target, nodeId: node, reload, clock, log },
    readOwn: () => readOwnNode(options),
    readDetail: () => showNode(pool.readState()),
    readOpen: pool.readOpen,
    onCommand: createObserveCommand(metrics, 'fleet'),
  });
  access.hear(fleet.line);
  metrics.members.watch((set) => {
    for (const [state, count] of Object.entries(fleet.facts()?.members ?? {})) {
      set({ state }, count);
    }
  });
  metrics.memberVersions.watch((set) => {
    for (const [of, count] of Object.entries(fleet.facts()?.versions ?? {})) set({ of }, count);
  });
  return fleet;
}

function readOwnNode({ pool, threads, sold, sweeper }: JoinOptions): OwnNode {
  const { config } = pool.inUse();
  const { node, workers, upstreams, redis } = showNode(pool.readState());
  return {
    version: node.version,
    ops_url: nameOps(config),
    config: { ...node.config, hash: hashSharedSettings(config) },
    catalogue_version: sold.state()?.version ?? null,
    workers: {
      up: workers.filter(({ state }) => state === 'listening').length,
      wanted: config.workers,
    },
    upstreams: upstreams.map(({ name, state }) => ({ name, state })),
    redis: { state: redis.state },
    is_ingesting: threads.report()?.isIngesting === true,
    sweeps: sweeper.bucketCount(),
    limits_format: LIMITS_FORMAT,
  };
}

/** Where its operators reach the node; null if only processes of its machine can. */
function nameOps({ ops: { listen } }: Config): string | null {
  if (listen.kind === 'unix') return null;
  const isAny = listen.host === '0.0.0.0' || listen.host === '::';
  return `http://${formatEndpoint(isAny ? { ...listen, host: hostname() } : listen)}`;
}
