import type { CurrentCatalogue } from '../config/config.ts';
import type { PackedSecrets } from '../lib/pack-secrets.ts';
import type { Readiness } from '../lib/readiness.ts';
import type { RefusalBatch } from '../lib/refusal-batch.ts';
import type { MetricSnapshot } from '../metrics/metric-snapshot.ts';
import type { UpstreamState } from '../routing/router.ts';
import type { TryCounts } from '../routing/try-counts.ts';
import type { Activity } from './activity.ts';

/**
 * How long a worker may continue for open exchanges, and for requests that still arrive on open
 * connections.
 */
export interface DrainOrder {
  readonly timeoutMs: number;
  /**
   * After its last answer, an idle connection may be about to carry one more request. The worker
   * ends only when it has been quiet for this long.
   */
  readonly lingerMs: number;
}

export interface StartOrder {
  /** The slot, from 1. It outlives the worker: a replacement has the same slot. */
  readonly worker: number;
  /**
   * The settings as the primary has read and checked them. The parser and the schema would take 6
   * MB in each worker.
   */
  readonly config: PackedSecrets;
  readonly configVersion: string;
  /** Replaced by every `catalogue` message. */
  readonly catalogue: CurrentCatalogue;
  /** The socket of the store that the primary runs itself. */
  readonly embeddedRedisPath: string | undefined;
}

/** One upstream as a worker sees it. */
export interface UpstreamReport extends UpstreamState {
  /** Tries since the worker's start. */
  readonly tries: TryCounts;
}

export interface WorkerReport {
  readonly upstreams: readonly UpstreamReport[];
  /** 0 while the store takes writes. */
  readonly storeOutForMs: number;
  readonly readiness: Readiness;
}

/** What the primary sees of the masters of Redis, about once a second. */
export type MastersNews =
  | { readonly kind: 'changed' }
  /** They are the same as this many milliseconds ago. */
  | { readonly kind: 'same'; readonly elapsedMs: number };

export type MessageToWorker =
  | { readonly type: 'start'; readonly order: StartOrder }
  /** A second one can only shorten the first. */
  | { readonly type: 'drain'; readonly order: DrainOrder }
  /** The names of all upstreams that do not answer the primary's probes. */
  | { readonly type: 'upstreams_down'; readonly names: readonly string[] }
  /** What is sold from now on. Requests that run keep what they began with. */
  | { readonly type: 'catalogue'; readonly catalogue: CurrentCatalogue }
  /** Whether so many entries wait for the books that no request may be admitted. */
  | { readonly type: 'books_full'; readonly isFull: boolean }
  | { readonly type: 'masters'; readonly news: MastersNews }
  /** The settlements of the `journal` message with this id are on the disk. */
  | { readonly type: 'journalled'; readonly id: number }
  /** The worker answers with `metrics` and the same id. */
  | { readonly type: 'read_metrics'; readonly id: number };

export type MessageToPrimary =
  | { readonly type: 'ready' }
  | { readonly type: 'listening' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'report'; readonly report: WorkerReport }
  | { readonly type: 'activity'; readonly activity: Activity }
  /** Sent once a second while requests are refused, and by a worker that has drained. */
  | { readonly type: 'refusals'; readonly batch: RefusalBatch }
  /**
   * Settlements that the store has not taken. The primary owns them once it has answered
   * `journalled`.
   */
  | { readonly type: 'journal'; readonly id: number; readonly settlements: readonly Buffer[] }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: readonly MetricSnapshot[] }
  /** Sent by a worker that has drained, just before it ends. */
  | { readonly type: 'last_metrics'; readonly metrics: readonly MetricSnapshot[] };
