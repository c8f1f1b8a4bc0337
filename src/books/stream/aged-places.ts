import type { StreamId } from './stream-id.ts';

/** Where streams stood some time ago. Ids show this only while the clock of Redis is right. */
export interface AgedPlaces {
  note(places: ReadonlyMap<number, StreamId>): void;
  /** The last id that a stream had when it was noted that long ago; undefined before that. */
  of(bucket: number): StreamId | undefined;
}

/** Keeps two notes: the newest that is old enough, and the one that comes next. */
export function createAgedPlaces(ageMs: number): AgedPlaces {
  let aged: ReadonlyMap<number, StreamId> = new Map();
  let next: { readonly notedMs: number; readonly places: typeof aged } | undefined;

  const age = () => {
    if (next === undefined || performance.now() - next.notedMs < ageMs) return;
    aged = next.places;
    next = undefined;
  };

  return {
    note(places) {
      age();
      next ??= { notedMs: performance.now(), places };
    },
    of(bucket) {
      age();
      return aged.get(bucket);
    },
  };
}
