import type { LatencyBucket } from '../lib/time/latency-histogram.ts';

/** The activity of a worker since its last report. */
export interface Activity {
  /** Requests that have ended, including refused ones. */
  readonly requests: number;
  readonly refused: number;
  /**
   * Counts by the name of the refusal, including refusals that ended a stream after its beginning.
   * Names with a count of 0 are absent.
   */
  readonly refusals: Readonly<Record<string, number>>;
  readonly streams: number;
  readonly chargedMicros: number;
  /** From the head of a request to the end of its answer. */
  readonly latencies: readonly LatencyBucket[];
  /** From the head of a request to the first event of its upstream. */
  readonly firstEvents: readonly LatencyBucket[];
  /** Requests that are open now. */
  readonly open: number;
}
