import type { PackedConfig } from '../config/pack-config.ts';
import type { Readiness } from '../lib/readiness.ts';
import type { MetricSnapshot } from '../metrics/metric-snapshot.ts';
import type { Activity } from '../ops/activity.ts';
import type { UpstreamState } from '../routing/router.ts';
import type { TryCounts } from '../routing/try-counts.ts';

/** How long a worker may go on for what is open, and for what may still come on open connections. */
export interface DrainOrder {
  readonly timeoutMs: number;
  /**
   * After the last answer an idle connection may be about to carry one more request. The worker ends only
   * when it has been quiet for so long.
   */
  readonly lingerMs: number;
}

export interface StartOrder {
  /** The slot, from 1. It outlives the worker: a replacement has the same. */
  readonly worker: number;
  /** The settings as the primary has read and checked them: what does that would take 6 MB of each worker. */
  readonly config: PackedConfig;
  readonly configVersion: string;
  /** The socket of the store that the primary runs itself. */
  readonly embeddedRedisPath: string | undefined;
}

/** One upstream as a worker sees it. */
export interface UpstreamReport extends UpstreamState {
  /** Since the worker's start. */
  readonly tries: TryCounts;
}

export interface WorkerReport {
  readonly upstreams: readonly UpstreamReport[];
  /** 0 while the store takes writes. */
  readonly storeOutForMs: number;
  readonly readiness: Readiness;
}

export type MessageToWorker =
  | { readonly type: 'start'; readonly order: StartOrder }
  | { readonly type: 'drain'; readonly order: DrainOrder }
  /** All upstreams that do not answer the primary. */
  | { readonly type: 'upstreams_down'; readonly names: readonly string[] }
  /** What was handed over under this number is on the disk. */
  | { readonly type: 'journalled'; readonly id: number }
  /** Answered by `metrics` with the same number. */
  | { readonly type: 'read_metrics'; readonly id: number };

export type MessageToPrimary =
  | { readonly type: 'ready' }
  | { readonly type: 'listening' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'report'; readonly report: WorkerReport }
  | { readonly type: 'activity'; readonly activity: Activity }
  /** Settlements that the store has not taken; from the answer on they are the primary's. */
  | { readonly type: 'journal'; readonly id: number; readonly settlements: readonly Buffer[] }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: readonly MetricSnapshot[] }
  /** Of a worker that has drained, just before it ends. */
  | { readonly type: 'last_metrics'; readonly metrics: readonly MetricSnapshot[] };
