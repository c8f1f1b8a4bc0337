import { startMetronome } from './start-metronome.ts';

interface Pace {
  readonly count: number;
  readonly ratePerSecond: number;
  /** Gets the time at which the call was due, by `performance.now()`. */
  readonly onDue: (dueMs: number) => void;
}

/** Above 10,000 calls a second, some calls share a tick. Each still gets its own due time. */
const TICK_MIN_MS = 0.1;
/**
 * Between calls that are further apart there are idle ticks, since a thread that sleeps longer than
 * this wakes up later.
 */
const TICK_MAX_MS = 5;

/**
 * Makes calls at fixed times, no matter how long earlier calls take. After the last call, resolves
 * with the time of the first.
 */
export function callAtPace({ count, ratePerSecond, onDue }: Pace): Promise<number> {
  const intervalMs = 1_000 / ratePerSecond;
  const callsPerTick = Math.ceil(TICK_MIN_MS / intervalMs);
  const ticksPerCall = Math.ceil(intervalMs / TICK_MAX_MS);
  return new Promise((resolve, reject) => {
    let index = 0;
    const metronome = startMetronome({
      intervalMs: (intervalMs * callsPerTick) / ticksPerCall,
      onTick(tick, startMs) {
        // Rounding can make a call due by the clock although its tick does not include it yet.
        const byTick = Math.floor((tick * callsPerTick) / ticksPerCall);
        const byClock = Math.floor((performance.now() - startMs) / intervalMs);
        const dueCount = Math.min(Math.max(byTick, byClock) + 1, count);
        try {
          for (; index < dueCount; index++) onDue(startMs + index * intervalMs);
        } catch (error) {
          metronome.stop();
          reject(error);
          return;
        }
        if (index < count) return;
        metronome.stop();
        resolve(startMs);
      },
      onFault: reject,
    });
  });
}
