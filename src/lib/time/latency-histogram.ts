/**
 * Counts how long things took, in whole microseconds, with a relative error of less than 1 % and
 * little memory.
 */
export interface LatencyHistogram {
  readonly count: number;
  /** The longest time, to the microsecond; 0 if nothing was added. */
  readonly maxMs: number;
  add(latencyMs: number): void;
  /**
   * The time that this share of all times does not exceed, at most the longest one; 0 if nothing
   * was added.
   */
  quantileMs(share: number): number;
  /** The buckets that are not empty, the shortest times first. */
  buckets(): LatencyBucket[];
}

export interface LatencyBucket {
  /** The longest time that belongs here. */
  readonly upToMs: number;
  readonly count: number;
}

/**
 * Below this number, each microsecond has its own bucket. Above it, each doubling has this many
 * buckets of equal width: at most 1/128 of the times in them.
 */
const STEPS_PER_DOUBLING = 128;
const STEP_BITS = 7;
/** More than an hour. Longer times count as this. */
const MICROS_MAX = 2 ** 32 - 1;
const MICROS_PER_MS = 1_000;

export function createLatencyHistogram(): LatencyHistogram {
  const counts = new Float64Array(indexOf(MICROS_MAX) + 1);
  let count = 0;
  let maxMs = 0;
  return {
    get count() {
      return count;
    },
    get maxMs() {
      return maxMs;
    },
    add(latencyMs) {
      const micros = Math.min(Math.max(Math.ceil(latencyMs * MICROS_PER_MS), 0), MICROS_MAX);
      const index = indexOf(micros);
      counts[index] = (counts[index] ?? 0) + 1;
      count += 1;
      maxMs = Math.max(maxMs, micros / MICROS_PER_MS);
    },
    quantileMs(share) {
      const rank = Math.max(Math.ceil(share * count), 1);
      let seen = 0;
      for (let index = 0; index < counts.length; index++) {
        seen += counts[index] ?? 0;
        if (seen >= rank) return Math.min(upToMs(index), maxMs);
      }
      return 0;
    },
    buckets() {
      const buckets: LatencyBucket[] = [];
      // By index, here and above: an iterator over all these places takes four to eight times as
      // long.
      for (let index = 0; index < counts.length; index++) {
        const counted = counts[index] ?? 0;
        if (counted > 0) buckets.push({ upToMs: upToMs(index), count: counted });
      }
      return buckets;
    },
  };
}

/** `MICROS_MAX` has 32 bits, as many as bit operations take. */
function indexOf(micros: number): number {
  if (micros < STEPS_PER_DOUBLING) return micros;
  const doublings = 31 - STEP_BITS - Math.clz32(micros);
  return doublings * STEPS_PER_DOUBLING + (micros >>> doublings);
}

function upToMs(index: number): number {
  const doublings = Math.max(Math.floor(index / STEPS_PER_DOUBLING) - 1, 0);
  const steps = index - doublings * STEPS_PER_DOUBLING;
  return ((steps + 1) * 2 ** doublings - 1) / MICROS_PER_MS;
}
