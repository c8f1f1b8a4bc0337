import type { Sample } from './take-sample.ts';

const SPANS = 6;
const NANOS_PER_MICRO = 1_000;

/** What workers cost in one part of the run. */
export interface CostSpan {
  readonly untilSeconds: number;
  readonly requests: number;
  /** CPU time of all workers per request. Null without requests. */
  readonly workerMicros: number | null;
}

/**
 * Divides the run into equal parts. Between two samples only workers in both count, so a worker
 * that starts or ends loses some seconds.
 */
export function measureCost(samples: readonly Sample[]): CostSpan[] {
  const length = Math.ceil(samples.length / SPANS);
  const starts = Array.from({ length: SPANS }, (_, span) => span * length);
  return starts.flatMap((start) => {
    // The first sample has no earlier one from which to count CPU time.
    const span = samples.slice(Math.max(start, 1), start + length);
    const last = span.at(-1);
    if (last === undefined) return [];
    let requests = 0;
    let nanos = 0;
    for (const [index, sample] of span.entries()) {
      requests += Object.values(sample.outcomes).reduce((sum, count) => sum + count, 0);
      nanos += workerNanosBetween(samples[Math.max(start, 1) + index - 1], sample);
    }
    const workerMicros = requests === 0 ? null : nanos / requests / NANOS_PER_MICRO;
    return [{ untilSeconds: last.atSeconds, requests, workerMicros }];
  });
}

function workerNanosBetween(before: Sample | undefined, after: Sample): number {
  let nanos = 0;
  for (const { name, pid, cpuNanos } of after.processes) {
    const earlier = before?.processes.find((each) => each.pid === pid);
    if (name.includes(' worker ') && earlier !== undefined) nanos += cpuNanos - earlier.cpuNanos;
  }
  return nanos;
}
