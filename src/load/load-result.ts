import type { LatencyBucket } from '../lib/time/latency-histogram.ts';
import type { HttpFailureKind } from '../upstream/http1/http-failure.ts';

export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Why a request has no complete answer. */
export type LoadFailureKind =
  | HttpFailureKind
  /** The stream began and ended with an error. */
  | 'stream_failed'
  /** Not sent: when it was due, the line of requests waiting for a connection was full. */
  | 'line_full'
  /** Not sent: it still waited for a connection when the load ended. */
  | 'unsent'
  /** Sent, but its answer was not complete when the load ended. */
  | 'unanswered';

/** The state of the load so far. */
export interface LoadProgress {
  readonly sent: number;
  /** Complete answers, whatever their status. */
  readonly completed: number;
  readonly failed: number;
}

export interface LoadResult {
  readonly sent: number;
  readonly completed: number;
  /** Complete answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The other due requests, by `LoadFailureKind`. Kinds with no request are absent. */
  readonly failures: Readonly<Record<string, number>>;
  /** From the first due time to the last answer. */
  readonly durationMs: number;
  /** From the time a request was due to the end of its complete answer. */
  readonly latencyMs: Percentiles;
  /**
   * From the time a request was due until it was sent. High values mean that connections or this
   * process were the limit.
   */
  readonly waitMs: Percentiles;
  /**
   * For streams: from the time a request was due to the first bytes of an answer with status 200.
   */
  readonly firstEventMs?: Percentiles;
  /** The buckets of `latencyMs` that are not empty. */
  readonly histogram: readonly LatencyBucket[];
}
