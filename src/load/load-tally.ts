import { createLatencyHistogram, type LatencyHistogram } from '../lib/time/latency-histogram.ts';
import type { LoadFailureKind, LoadProgress, LoadResult, Percentiles } from './load-result.ts';

/** Counts the outcomes of the requests of one load. All times begin when a request was due. */
export interface LoadTally {
  countSent(waitMs: number): void;
  countFirstEvent(latencyMs: number): void;
  countAnswer(status: number, latencyMs: number): void;
  countFailures(kind: LoadFailureKind, count: number): void;
  progress(): LoadProgress;
  result(durationMs: number): LoadResult;
}

export function createLoadTally(): LoadTally {
  const statuses: Record<string, number> = {};
  const failures: Record<string, number> = {};
  const waits = createLatencyHistogram();
  const latencies = createLatencyHistogram();
  const firstEvents = createLatencyHistogram();
  return {
    countSent: waits.add,
    countFirstEvent: firstEvents.add,
    countAnswer(status, latencyMs) {
      statuses[status] = (statuses[status] ?? 0) + 1;
      latencies.add(latencyMs);
    },
    countFailures(kind, count) {
      if (count > 0) failures[kind] = (failures[kind] ?? 0) + count;
    },
    progress: () => ({
      sent: waits.count,
      completed: latencies.count,
      failed: Object.values(failures).reduce((sum, count) => sum + count, 0),
    }),
    result: (durationMs) => ({
      sent: waits.count,
      completed: latencies.count,
      statuses,
      failures,
      durationMs,
      latencyMs: percentilesOf(latencies),
      waitMs: percentilesOf(waits),
      ...(firstEvents.count > 0 && { firstEventMs: percentilesOf(firstEvents) }),
      histogram: latencies.buckets(),
    }),
  };
}

function percentilesOf(histogram: LatencyHistogram): Percentiles {
  return {
    p50: histogram.quantileMs(0.5),
    p90: histogram.quantileMs(0.9),
    p99: histogram.quantileMs(0.99),
    p999: histogram.quantileMs(0.999),
    max: histogram.maxMs,
  };
}
