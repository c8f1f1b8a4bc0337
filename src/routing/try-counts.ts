import { TRY_RESULTS, type Try, type TryResult } from '../protocol/try.ts';

/** How many tries ended with each result. */
export type TryCounts = Readonly<Record<TryResult, number>>;

export const NO_TRIES = countEach(() => 0);

/** The tries of one process at each upstream, since its start. */
export function createTryCounts() {
  const counts = new Map<string, Record<TryResult, number>>();
  return {
    read: (upstream: string): TryCounts => ({ ...NO_TRIES, ...counts.get(upstream) }),
    note(tries: readonly Try[]) {
      for (const { upstream, result } of tries) {
        const known = counts.get(upstream) ?? { ...NO_TRIES };
        known[result] += 1;
        counts.set(upstream, known);
      }
    },
  };
}

export function addTries(one: TryCounts, other: TryCounts): TryCounts {
  return countEach((result) => one[result] + other[result]);
}

function countEach(count: (result: TryResult) => number): TryCounts {
  return Object.fromEntries(TRY_RESULTS.map((result) => [result, count(result)])) as Record<
    TryResult,
    number
  >;
}
