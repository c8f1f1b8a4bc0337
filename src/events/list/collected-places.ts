/** A replica that takes over is behind by seconds, not by minutes. */
const KEEP_MS = 60_000;

export interface CollectedPlaces {
  /** Up to where the list has the events of a bucket. */
  get(bucket: number): string | undefined;
  set(bucket: number, place: string): void;
  /** Up to where no failover takes the events out of the list any more. */
  getKept(bucket: number): string | undefined;
  /** A stream that begins anew may begin with an earlier place. */
  forget(bucket: number): void;
  /** The masters have answered, and are the same as they were this many milliseconds ago. */
  noteSame(elapsedMs: number): void;
}

/**
 * Places in the streams of the buckets, between two changes of masters. What the list has is kept
 * when the masters were there for a minute since, by their own watch: while they are away, nobody
 * knows what the next one will lack. With a mark each minute, that takes two minutes at most.
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
