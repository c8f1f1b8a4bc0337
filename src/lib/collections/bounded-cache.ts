import type { Clock } from '../time/clock.ts';

export interface BoundedCache<Value> {
  get(key: string): Value | undefined;
  /** The entry counts as new, whether the key was there or not. */
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/**
 * This share of the entries is dropped at once: a Map finds its first key slowly after many keys
 * before it were deleted.
 */
const DROPPED_SHARE = 0.01;

interface Entry<Value> {
  value: Value;
  setMs: number;
  /** How many entries had been put at the end, this one included. */
  putAt: number;
}

interface BoundedCacheOptions {
  readonly clock: Clock;
  readonly keepMs: number;
  readonly entriesMax: number;
}

/**
 * Forgets entries that are too old. If there are too many, it forgets those that were unused the
 * longest.
 */
export function createBoundedCache<Value>(options: BoundedCacheOptions): BoundedCache<Value> {
  const { clock, keepMs, entriesMax } = options;
  // A Map keeps its keys in the order of insertion: the first one was unused the longest.
  const entries = new Map<string, Entry<Value>>();
  const droppedAtOnce = Math.max(1, Math.floor(entriesMax * DROPPED_SHARE));
  let puts = 0;

  const isFresh = ({ setMs }: Entry<Value>) => {
    const ageMs = clock.nowMs() - setMs;
    // A clock that is set back must not keep an entry for longer.
    return ageMs >= 0 && ageMs < keepMs;
  };

  /**
   * Moving an entry takes longer than finding it, and makes garbage that lives long (see
   * `LinkedList`). The order need only be as exact as the number of entries that are dropped at
   * once.
   */
  const isNearEnd = ({ putAt }: Entry<Value>) => puts - putAt < droppedAtOnce;

  const dropLongestUnused = () => {
    let left = droppedAtOnce;
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
      const isStale = !isFresh(entry);
      if (!isStale && isNearEnd(entry)) return entry.value;
      entries.delete(key);
      if (isStale) return undefined;
      puts += 1;
      entry.putAt = puts;
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value) {
      const entry = entries.get(key);
      if (entry !== undefined && isNearEnd(entry)) {
        entry.value = value;
        entry.setMs = clock.nowMs();
        return;
      }
      entries.delete(key);
      puts += 1;
      entries.set(key, { value, setMs: clock.nowMs(), putAt: puts });
      if (entries.size > entriesMax) dropLongestUnused();
    },
    delete(key) {
      entries.delete(key);
    },
  };
}
