import type { Clock } from '../lib/time/clock.ts';

const REST_MAX_MS = 30_000;

/** A time in which an upstream is left alone. */
export interface Rest {
  leftMs(): number;
  /** Never shortens a rest. */
  extendTo(ms: number): void;
  end(): void;
}

export function createRest(clock: Clock): Rest {
  let untilMs = 0;

  const leftMs = () => {
    if (untilMs === 0) return 0;
    const ms = untilMs - clock.nowMs();
    // A rest longer than the maximum means that the clock was set back.
    return ms > REST_MAX_MS ? 0 : Math.max(0, ms);
  };

  return {
    leftMs,
    extendTo(ms) {
      untilMs = clock.nowMs() + Math.max(leftMs(), Math.min(ms, REST_MAX_MS));
    },
    end() {
      untilMs = 0;
    },
  };
}
