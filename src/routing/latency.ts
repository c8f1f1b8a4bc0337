import type { Clock } from '../lib/time/clock.ts';

/** After this long without a sample, what is known counts half. */
const HALF_LIFE_MS = 10_000;
/** Any share of a latency of 0 would be 0 too. */
const LATENCY_MIN_MS = 1;

/** How long a route takes to its first event: an average in which older samples weigh less. */
export interface Latency {
  /** Undefined while there is no sample. */
  readonly averageMs: number | undefined;
  note(ms: number): void;
  /** A caller gave up after this time, which says nothing unless it is longer than the average. */
  noteAtLeast(ms: number): void;
  /**
   * The average, drawn towards `baseMs` the older it is. So a route that was slow once is taken for
   * as fast as the others some time later and is tried again, but not by all requests at once.
   */
  fadeTo(baseMs: number): number;
}

export function createLatency(clock: Clock): Latency {
  let averageMs: number | undefined;
  let notedMs = 0;

  const keptShare = () => 2 ** (-Math.max(0, clock.nowMs() - notedMs) / HALF_LIFE_MS);
  const note = (sampleMs: number) => {
    const ms = Math.max(sampleMs, LATENCY_MIN_MS);
    averageMs = averageMs === undefined ? ms : ms + (averageMs - ms) * keptShare();
    notedMs = clock.nowMs();
  };

  return {
    get averageMs() {
      return averageMs;
    },
    note,
    noteAtLeast(ms) {
      if (averageMs !== undefined && ms > averageMs) note(ms);
    },
    fadeTo: (baseMs) =>
      averageMs === undefined ? baseMs : baseMs + (averageMs - baseMs) * keptShare(),
  };
}
