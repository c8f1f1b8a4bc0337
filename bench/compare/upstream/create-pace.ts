const TICK_MS = 1;

export interface Pace {
  /** Repeats the call after each gap until it returns false. */
  every(call: () => boolean): void;
}

/**
 * One timer for all streams: one timer each would be most of the upstream's cost. Late ticks are
 * caught up.
 */
export function createPace(gapMs: number): Pace {
  const slots: Set<() => boolean>[] = Array.from({ length: Math.max(gapMs, 1) }, () => new Set());
  let atMs = Math.floor(performance.now());
  const slotAt = (ms: number) => slots[ms % slots.length] ?? new Set();
  if (gapMs > 0) {
    setInterval(() => {
      const nowMs = Math.floor(performance.now());
      for (; atMs < nowMs; atMs++) {
        const calls = slotAt(atMs);
        for (const call of calls) if (!call()) calls.delete(call);
      }
    }, TICK_MS);
  }
  // Streams that start at the same time take different slots: real answers are not in step.
  let next = 0;
  return {
    every(call) {
      next += 1;
      slotAt(next).add(call);
    },
  };
}
