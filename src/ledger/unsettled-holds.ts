import { LATE_WITHIN_MAX_MS } from './find-request.ts';
import type { LedgerEntry } from './ledger-entry.ts';
import { msOfStreamId } from './stream-id.ts';

/** Holds that ran out, and whose requests nobody settled. Names are those of the command's JSON. */
export interface UnsettledHolds {
  readonly holds: number;
  readonly held_micros: number;
  /** What was noted when they were renewed last. */
  readonly charged_micros: number;
  /** When the last of them ran out; null when there is none. */
  readonly last_at: string | null;
}

export interface UnsettledHoldsSum {
  /** In any order. */
  note(entry: LedgerEntry): void;
  sum(): UnsettledHolds;
}

/** Those that may be settled yet are not counted. */
export function createUnsettledHolds(nowMs: number): UnsettledHoldsSum {
  const expired = new Map<string, LedgerEntry>();
  const settled = new Set<string>();
  return {
    note(entry) {
      if (entry.kind === 'late') settled.add(entry.request);
      else if (entry.kind === 'expired') expired.set(entry.request, entry);
    },
    sum() {
      const isLost = ({ request, id }: LedgerEntry) =>
        !settled.has(request) && msOfStreamId(id) < nowMs - LATE_WITHIN_MAX_MS;
      const lost = [...expired.values()].filter(isLost);
      return {
        holds: lost.length,
        held_micros: lost.reduce((sum, entry) => sum + entry.held_micros, 0),
        charged_micros: lost.reduce((sum, entry) => sum + entry.charged_micros, 0),
        last_at:
          lost
            .map(({ time }) => time)
            .sort()
            .at(-1) ?? null,
      };
    },
  };
}
