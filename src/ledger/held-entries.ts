import type { LedgerEntry } from './ledger-entry.ts';
import { compareStreamIds } from './stream-id.ts';

interface HeldBack {
  readonly entry: LedgerEntry;
  seen: number;
}

/** Entries that more than one source may have. */
export interface HeldEntries {
  /** False when it was there before. */
  add(entry: LedgerEntry): boolean;
  all(): Iterable<LedgerEntry>;
  /**
   * Entries that a source should have had and did not: a failover has lost them after they were
   * exported. Their changes may have been repeated since, under another id.
   */
  findIrregular(countAt: (entry: LedgerEntry) => number): LedgerEntry[];
  delete(entry: LedgerEntry): void;
}

export function createHeldEntries(): HeldEntries {
  const held = new Map<string, HeldBack>();
  return {
    add(entry) {
      const existing = held.get(placeOf(entry));
      if (existing === undefined) held.set(placeOf(entry), { entry, seen: 1 });
      else existing.seen++;
      return existing === undefined;
    },
    *all() {
      for (const { entry } of held.values()) yield entry;
    },
    findIrregular: (countAt) =>
      [...held.values()]
        .filter(({ entry, seen }) => seen < countAt(entry))
        .map(({ entry }) => entry),
    delete: (entry) => {
      held.delete(placeOf(entry));
    },
  };
}

/**
 * Identifies the event of an entry. A request or a payment has one entry of a kind, unless a
 * failover repeats it.
 */
export function eventOf({ account, request, kind }: LedgerEntry): string {
  return `${account} ${request} ${kind}`;
}

/**
 * Chooses entries that do not count, among entries about the same event: those that a failover has
 * lost, but never all of them. A regular entry counts as often as it occurs, since it has changed a
 * balance that often, or is a mistake that must show.
 */
export function chooseDropped(
  irregular: readonly LedgerEntry[],
  regularEvents: ReadonlySet<string>,
): LedgerEntry[] {
  const counted = new Set(regularEvents);
  const newestFirst = irregular.toSorted((a, b) => compareStreamIds(b.id, a.id));
  return newestFirst.filter((entry) => {
    const isRepeated = counted.has(eventOf(entry));
    counted.add(eventOf(entry));
    return isRepeated;
  });
}

function placeOf({ bucket, id }: LedgerEntry): string {
  return `${bucket} ${id}`;
}
