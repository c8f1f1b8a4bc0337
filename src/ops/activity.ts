import type { LatencyBucket } from '../lib/time/latency-histogram.ts';

/** What a worker did since it last told of it. */
export interface Activity {
  /** That have ended, refused ones as well. */
  readonly requests: number;
  readonly refused: number;
  /** By the name of the refusal, also of what ended a stream that had begun; those of 0 are absent. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly streams: number;
  readonly chargedMicros: number;
  /** From the head of a request to the end of its answer. */
  readonly latencies: readonly LatencyBucket[];
  /** From the head of a request to the first event of its upstream. */
  readonly firstEvents: readonly LatencyBucket[];
  /** Open now. */
  readonly open: number;
}
