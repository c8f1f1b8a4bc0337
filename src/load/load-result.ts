import type { LatencyBucket } from '../lib/time/latency-histogram.ts';
import type { HttpFailureKind } from '../upstream/http1/http-failure.ts';

export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Why there is no complete answer to a request. */
export type LoadFailureKind =
  | HttpFailureKind
  /** A stream that began, and ended with an error. */
  | 'stream_failed'
  /** When it was due, as many others as there may be were waiting for a connection. It was not sent. */
  | 'line_full'
  /** It still waited for a connection when nothing was waited for any longer. It was not sent. */
  | 'unsent'
  /** It was sent, and its answer was not complete when nothing was waited for any longer. */
  | 'unanswered';

/** What has become of requests so far. */
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
  /** The rest of what was due, by `LoadFailureKind`; those that are zero are absent. */
  readonly failures: Readonly<Record<string, number>>;
  /** From the first due time to the last answer. */
  readonly durationMs: number;
  /** From the time a request was due to the end of its complete answer. */
  readonly latencyMs: Percentiles;
  /** From the same time until the request was sent: large when connections, or this process, were the limit. */
  readonly waitMs: Percentiles;
  /** Of streams: from the same time to the first bytes of an answer with status 200. */
  readonly firstEventMs?: Percentiles;
  /** Of `latencyMs`, the buckets with anything in them. */
  readonly histogram: readonly LatencyBucket[];
}
