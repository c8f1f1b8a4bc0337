import type { Sample } from '../../sample.ts';

const SECONDS_PER_MINUTE = 60;
const MS_PER_SECOND = 1_000;
/** Fewer seconds say little about a minute. */
const SECONDS_SEEN_MIN = 10;
/** If as much time as two samples is missing between two of them, nothing is known in between. */
const SAMPLES_MISSING_MAX = 2;

export interface TrafficLines {
  readonly times: readonly number[];
  readonly requests: readonly (number | null)[];
  readonly streams: readonly (number | null)[];
  readonly refused: readonly (number | null)[];
  readonly p50: readonly (number | null)[];
  readonly p90: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  readonly firstP50: readonly (number | null)[];
  readonly firstP99: readonly (number | null)[];
  readonly creditsPerMinute: readonly (number | null)[];
}

/** Counts become rates a second. Lines have a gap where the connection was lost. */
export function measureTraffic(samples: readonly Sample[]): TrafficLines {
  const points = samples.flatMap(
    (sample, index): { atMs: number; sample?: Sample; index: number }[] => {
      const point = { atMs: sample.atMs, sample, index };
      const before = samples[index - 1];
      if (before === undefined || !isGapBetween(before, sample)) return [point];
      return [{ atMs: before.atMs + MS_PER_SECOND, index }, point];
    },
  );
  const line = (read: (sample: Sample, index: number) => number | null | undefined) =>
    points.map(({ sample, index }) => (sample && read(sample, index)) ?? null);
  return {
    times: points.map(({ atMs }) => atMs / MS_PER_SECOND),
    requests: line(({ requests, seconds }) => requests / seconds),
    streams: line(({ streams, seconds }) => streams / seconds),
    refused: line(({ refused, seconds }) => refused / seconds),
    p50: line(({ latency_ms: latency }) => latency?.p50),
    p90: line(({ latency_ms: latency }) => latency?.p90),
    p99: line(({ latency_ms: latency }) => latency?.p99),
    firstP50: line(({ first_event_ms: first }) => first?.p50),
    firstP99: line(({ first_event_ms: first }) => first?.p99),
    creditsPerMinute: line((_, index) => rateLastMinute(samples, index)),
  };
}

function isGapBetween(before: Sample, after: Sample): boolean {
  const missingMs = after.atMs - after.seconds * MS_PER_SECOND - before.atMs;
  return missingMs >= SAMPLES_MISSING_MAX * before.seconds * MS_PER_SECOND;
}

/**
 * Returns the rate of the last minute, or of the part of it that was seen; null until that part is
 * long enough.
 */
function rateLastMinute(samples: readonly Sample[], index: number): number | null {
  const endMs = samples[index]?.atMs ?? 0;
  // Each sample covers its time, however late it came.
  const seen = samples
    .slice(Math.max(0, index + 1 - SECONDS_PER_MINUTE), index + 1)
    .filter(({ atMs }) => endMs - atMs < SECONDS_PER_MINUTE * MS_PER_SECOND);
  const secondsSeen = seen.reduce((total, { seconds }) => total + seconds, 0);
  if (secondsSeen < SECONDS_SEEN_MIN) return null;
  const sum = seen.reduce((total, { credits }) => total + credits, 0);
  return (sum / secondsSeen) * SECONDS_PER_MINUTE;
}

interface RefusalCount {
  readonly name: string;
  readonly count: number;
}

/** Counts refusals by reason, the most frequent first. */
export function countRefusals(samples: readonly Sample[]): readonly RefusalCount[] {
  const counts = new Map<string, number>();
  for (const { refusals } of samples) {
    for (const [name, count] of Object.entries(refusals)) {
      counts.set(name, (counts.get(name) ?? 0) + count);
    }
  }
  return Array.from(counts, ([name, count]) => ({ name, count })).toSorted(
    (one, other) => other.count - one.count,
  );
}
