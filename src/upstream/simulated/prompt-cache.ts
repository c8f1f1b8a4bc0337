import type { Clock } from '../../lib/time/clock.ts';

export type CacheTtl = '5m' | '1h';

export interface PromptCache {
  /** Whether the prefix is cached. If it is, this counts as a use, which restarts its time. */
  touch(prefix: string): boolean;
  write(prefix: string, ttl: CacheTtl): void;
}

const PREFIXES_MAX = 10_000;
const TTL_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;

interface Entry {
  readonly ttl: CacheTtl;
  readonly expiresMs: number;
}

/** Which prefixes a model remembers. The prefix that was unused the longest is forgotten first. */
export function createPromptCache(clock: Clock, prefixesMax = PREFIXES_MAX): PromptCache {
  // A map keeps the order of insertion, so its first entry was unused the longest.
  const entries = new Map<string, Entry>();

  function write(prefix: string, ttl: CacheTtl): void {
    entries.delete(prefix);
    entries.set(prefix, { ttl, expiresMs: clock.nowMs() + TTL_MS[ttl] });
    if (entries.size <= prefixesMax) return;
    for (const [oldest] of entries) {
      entries.delete(oldest);
      return;
    }
  }

  return {
    write,
    touch(prefix) {
      const entry = entries.get(prefix);
      if (entry === undefined) return false;
      if (entry.expiresMs <= clock.nowMs()) {
        entries.delete(prefix);
        return false;
      }
      write(prefix, entry.ttl);
      return true;
    },
  };
}
