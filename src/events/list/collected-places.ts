/** A replica that takes over is behind by seconds, not by minutes. */
const KEEP_MS = 60_000;

export interface CollectedPlaces {
  /** How far the list has the events of a bucket. */
  get(bucket: number): string | undefined;
  set(bucket: number, place: string): void;
  /** How far the list has them for good: no failover takes these out of it any more. */
  getKept(bucket: number): string | undefined;
  /** A stream that starts again may start at an earlier place. */
  forget(bucket: number): void;
  /** The masters have answered, and are the same as they were this many milliseconds ago. */
  noteSame(elapsedMs: number): void;
}

/**
 * Places in the streams of the buckets, between two changes of masters. What the list has is kept
 * once the masters were there for a minute since. Time while they are away does not count: nobody
 * knows what the next ones will lack. With a mark each minute, this takes at most two.
 */
export function createCollectedPlaces(): CollectedPlaces {
  const now = new Map<number, string>();
  let marked = new Map<number, string>();
  let kept = new Map<number, string>();
  let sameMs = 0;
  return {
    get: (bucket) => now.get(bucket),
    set: (bucket, place) => void now.set(bucket, place),
    getKept: (bucket) => kept.get(bucket),
    forget(bucket) {
      for (const places of [now, marked, kept]) places.delete(bucket);
    },
    noteSame(elapsedMs) {
      sameMs += elapsedMs;
      if (sameMs < KEEP_MS) return;
      sameMs = 0;
      kept = marked;
      marked = new Map(now);
    },
  };
}
