import type { Try } from '../protocol/inference.ts';

/** How many tries ended with each result. */
export type TryCounts = Readonly<Record<Try['result'], number>>;

export const NO_TRIES: TryCounts = {
  ok: 0,
  refused: 0,
  overloaded: 0,
  broken: 0,
  unreachable: 0,
  slow: 0,
  left: 0,
  fault: 0,
};

/** The tries of one process at each upstream, since its start. */
export function createTryCounts() {
  const counts = new Map<string, TryCounts>();
  const read = (upstream: string) => counts.get(upstream) ?? NO_TRIES;
  return {
    read,
    note(tries: readonly Try[]) {
      for (const { upstream, result } of tries) {
        const before = read(upstream);
        counts.set(upstream, { ...before, [result]: before[result] + 1 });
      }
    },
  };
}

export function addTries(one: TryCounts, other: TryCounts): TryCounts {
  return {
    ok: one.ok + other.ok,
    refused: one.refused + other.refused,
    overloaded: one.overloaded + other.overloaded,
    broken: one.broken + other.broken,
    unreachable: one.unreachable + other.unreachable,
    slow: one.slow + other.slow,
    left: one.left + other.left,
    fault: one.fault + other.fault,
  };
}
