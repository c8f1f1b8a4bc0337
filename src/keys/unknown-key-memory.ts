import { createBoundedCache } from '../lib/collections/bounded-cache.ts';
import type { Clock } from '../lib/time/clock.ts';

const KEEP_MS = 5_000;
const ENTRIES_MAX = 10_000;

export interface UnknownKeyMemory {
  has(digest: string): boolean;
  add(digest: string): void;
}

interface UnknownKeyMemoryOptions {
  readonly clock: Clock;
  /** If a key is created whose digest is remembered here, it stays unknown for up to this long. */
  readonly keepMs?: number;
  readonly entriesMax?: number;
}

/**
 * Saves Redis from being asked for the same wrong key again and again. It remembers no key that
 * exists: the store is always asked for those.
 */
export function createUnknownKeyMemory({
  clock,
  keepMs = KEEP_MS,
  entriesMax = ENTRIES_MAX,
}: UnknownKeyMemoryOptions): UnknownKeyMemory {
  const unknown = createBoundedCache<true>({ clock, keepMs, entriesMax });
  return {
    has: (digest) => unknown.get(digest) === true,
    add: (digest) => unknown.set(digest, true),
  };
}
