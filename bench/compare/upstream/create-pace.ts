const TICK_MS = 1;

export interface Pace {
  /** Calls again after each gap, until it answers false. */
  every(call: () => boolean): void;
}

/** One timer for all streams: one each would be most of what the upstream costs. Lost ticks are made up for. */
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
  // Those that come at the same time take different slots: real answers are not in step.
  let next = 0;
  return {
    every(call) {
      next += 1;
      slotAt(next).add(call);
    },
  };
}
