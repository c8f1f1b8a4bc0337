import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { quantileOf, sumOf } from '../../src/top/measure.ts';
import { type MetricsPage, parseMetrics } from '../../src/top/parse-metrics.ts';
import { readCpuNanos } from '../compare/figures/cpu-times.ts';
import type { SoakNode, SoakNodes } from './start-soak-nodes.ts';

const run = promisify(execFile);
const KIB = 1_024;

export interface ProcessSample {
  /** For example `a worker 2`. A replacement has the same name and another pid. */
  readonly name: string;
  readonly pid: number;
  readonly rssBytes: number;
  readonly openFiles: number;
  /** CPU time of all threads since the process started. */
  readonly cpuNanos: number;
}

export interface Sample {
  readonly atSeconds: number;
  /** Requests since the previous sample, by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly processes: readonly ProcessSample[];
  /** The worse value of the two nodes since the previous sample. Null if neither reported one. */
  readonly lagP99Seconds: number | null;
  readonly holds: number;
  readonly settleQueue: number;
  readonly journal: number;
  /** Settlements left to operators since the start of the nodes. */
  readonly lostSettlements: number;
  readonly redisBytes: number;
}

const LOST_KINDS = ['too_old', 'fault', 'dropped'];

/** Returns a function that takes samples. Each covers the time since the previous one. */
export function createSampler({ nodes, redisSocket, redisPid }: SoakNodes) {
  let before = new Map<SoakNode, MetricsPage>();
  return async (): Promise<Omit<Sample, 'atSeconds' | 'outcomes'>> => {
    const pages = new Map<SoakNode, MetricsPage>();
    for (const node of nodes) pages.set(node, await readMetrics(node));
    const sum = (name: string, isWanted?: Parameters<typeof sumOf>[2]) =>
      [...pages.values()].reduce((total, page) => total + (sumOf(page, name, isWanted) ?? 0), 0);
    const lags = [...pages].flatMap(([node, after]) => {
      const interval = { before: before.get(node), after, seconds: 1 };
      return quantileOf(interval, 'tollgate_event_loop_lag_seconds', 0.99) ?? [];
    });
    before = pages;
    const processes = [
      ...(await Promise.all(nodes.map(listProcesses))).flat(),
      { name: 'redis', pid: redisPid },
    ];
    return {
      processes: processes.flatMap(readProcess),
      lagP99Seconds: lags.length === 0 ? null : Math.max(...lags),
      holds: sum('tollgate_holds_active'),
      settleQueue: sum('tollgate_settle_queue_depth'),
      journal: sum('tollgate_settle_journal_depth'),
      lostSettlements: sum('tollgate_settlements_total', (labels) =>
        LOST_KINDS.includes(labels.get('kind') ?? ''),
      ),
      redisBytes: await readRedisBytes(redisSocket),
    };
  };
}

async function readMetrics({ opsUrl }: SoakNode): Promise<MetricsPage> {
  return parseMetrics(await (await fetch(`${opsUrl}/metrics`)).text());
}

interface ClusterShown {
  readonly workers: readonly { readonly worker: number; readonly pid: number }[];
}

async function listProcesses({ name, pid, admin }: SoakNode) {
  const { workers } = await admin<ClusterShown>('GET', '/cluster');
  return [
    { name: `${name} primary`, pid },
    ...workers.map((each) => ({ name: `${name} worker ${each.worker}`, pid: each.pid })),
  ];
}

/** Returns nothing for a process that has just ended. */
function readProcess({ name, pid }: { name: string; pid: number }): ProcessSample[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const rssBytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * KIB;
    const openFiles = readdirSync(`/proc/${pid}/fd`).length;
    const cpuNanos = readCpuNanos([pid]);
    return Number.isNaN(rssBytes) ? [] : [{ name, pid, rssBytes, openFiles, cpuNanos }];
  } catch {
    return [];
  }
}

async function readRedisBytes(socket: string): Promise<number> {
  const { stdout } = await run('redis-cli', ['-s', socket, 'info', 'memory']);
  return Number(/^used_memory:(\d+)/m.exec(stdout)?.[1] ?? Number.NaN);
}
