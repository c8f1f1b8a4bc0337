import type { Clock } from '../lib/time/clock.ts';

/** After so long without a sample, half of what is known counts no more. */
const HALF_LIFE_MS = 10_000;
/** Of nothing, every share would be nothing too. */
const LATENCY_MIN_MS = 1;

/** How long a route takes to its first event: an average in which samples weigh less the older they are. */
export interface Latency {
  /** Undefined while nothing is known. */
  readonly averageMs: number | undefined;
  note(ms: number): void;
  /** Whoever gave up had waited for so long, which tells nothing unless it is longer than usual. */
  noteAtLeast(ms: number): void;
  /**
   * What is known, drawn towards `baseMs` the older it is: a route that was slow once is taken for as fast as
   * the others some time later, and so it is tried again, but not by everybody at once.
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
