import type { Clock } from './clock.ts';

export interface BoundedCache<Value> {
  get(key: string): Value | undefined;
  /** The entry counts as new, whether the key was there or not. */
  set(key: string, value: Value): void;
}

/** At once: a Map finds its first key slowly after many before it were deleted. */
const DROPPED_SHARE = 0.01;

interface Entry<Value> {
  readonly value: Value;
  readonly setMs: number;
}

interface BoundedCacheOptions {
  readonly clock: Clock;
  readonly keepMs: number;
  readonly entriesMax: number;
}

/** Forgets what is too old, and what was not used for the longest time when there is too much. */
export function createBoundedCache<Value>(options: BoundedCacheOptions): BoundedCache<Value> {
  const { clock, keepMs, entriesMax } = options;
  // A Map keeps its keys in the order in which they were put in: the first is the longest unused.
  const entries = new Map<string, Entry<Value>>();

  const isFresh = ({ setMs }: Entry<Value>) => {
    const ageMs = clock.nowMs() - setMs;
    // A clock that was set back must not keep an entry for longer.
    return ageMs >= 0 && ageMs < keepMs;
  };

  const dropLongestUnused = () => {
    let left = Math.max(1, Math.floor(entriesMax * DROPPED_SHARE));
    for (const key of entries.keys()) {
      if (left === 0) return;
      entries.delete(key);
      left -= 1;
    }
  };

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      if (!isFresh(entry)) return undefined;
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, { value, setMs: clock.nowMs() });
      if (entries.size > entriesMax) dropLongestUnused();
    },
  };
}
