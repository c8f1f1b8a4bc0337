import { setTimeout as sleep } from 'node:timers/promises';
import { BUCKETS, tagOfBucket } from '../../src/keys/bucket-tags.ts';
import { type SeenCommand, watchCommands } from '../../test/support/servers/watch-commands.ts';
import { readCpuNanos } from '../compare/figures/cpu-times.ts';
import { isShared, purposeOf } from '../idle/sort-commands.ts';
import type { FleetCluster } from './fleet-cluster.ts';

/** The connections of the bench itself. */
const FOREIGN = new Set(['test', 'ended']);

/** What Redis had to do in one span of time. */
export interface LoadFigures {
  /** Of one node, as seen by the masters. */
  readonly commandsPerNode: number;
  /** Of all nodes together, for work that any one of them does. */
  readonly commandsShared: number;
  readonly byPurpose: readonly (readonly [purpose: string, perSecond: number])[];
  /** Of all commands on buckets. */
  readonly busiestBucketShare: number;
  /** Cores that the masters and the processes of the nodes used, without the watching. */
  readonly redisCores: number;
  readonly nodeCores: number;
  /** Of one master. */
  readonly connections: number;
}

interface WatchOptions {
  readonly cluster: FleetCluster;
  readonly pids: readonly number[];
  readonly nodes: number;
  readonly seconds: number;
}

/** First the CPU time, then the commands: to see each command costs Redis as much as many of them. */
export async function watchLoad(options: WatchOptions): Promise<LoadFigures> {
  const { cluster, pids, nodes, seconds } = options;
  const masterPids = cluster.masters.map(({ pid }) => pid);
  const before = { redis: readCpuNanos(masterPids), nodes: readCpuNanos(pids) };
  const cpuS = await wait(seconds);
  const coresOf = (nanos: number) => nanos / 1e9 / cpuS;
  const redisCores = coresOf(readCpuNanos(masterPids) - before.redis);
  const nodeCores = coresOf(readCpuNanos(pids) - before.nodes);

  const connections = await cluster.countConnections();
  const watches = await Promise.all(
    cluster.masters.map(({ host, port }) => watchCommands(port, host)),
  );
  const tookS = await wait(seconds);
  const all = (await Promise.all(watches.map((watch) => watch.read()))).flat();
  for (const watch of watches) watch.stop();
  const seen = all.filter(({ connection }) => !FOREIGN.has(connection));
  const shared = seen.filter(isShared).length;
  return {
    ...{ redisCores, nodeCores, connections, busiestBucketShare: shareOfBusiest(seen) },
    commandsPerNode: (seen.length - shared) / tookS / nodes,
    commandsShared: shared / tookS,
    byPurpose: sumByPurpose(seen, tookS),
  };
}

async function wait(seconds: number): Promise<number> {
  const startedMs = performance.now();
  await sleep(seconds * 1_000);
  return (performance.now() - startedMs) / 1_000;
}

const BUCKET_TAGS = new Set(Array.from({ length: BUCKETS }, (_, bucket) => tagOfBucket(bucket)));

function shareOfBusiest(seen: readonly SeenCommand[]): number {
  const counts = new Map<string, number>();
  let sum = 0;
  for (const command of seen) {
    const tag = /^gw:\{([^}]+)\}/.exec(command.subject)?.[1] ?? '';
    if (!BUCKET_TAGS.has(tag) || purposeOf(command) === 'sweeps') continue;
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
    sum += 1;
  }
  return sum === 0 ? 0 : Math.max(...counts.values()) / sum;
}

function sumByPurpose(seen: readonly SeenCommand[], tookS: number) {
  const counts = new Map<string, number>();
  for (const command of seen) {
    const purpose = purposeOf(command);
    counts.set(purpose, (counts.get(purpose) ?? 0) + 1);
  }
  return [...counts]
    .map(([purpose, count]) => [purpose, count / tookS] as const)
    .sort(([, a], [, b]) => b - a);
}
