export interface StateCount {
  readonly state: string;
  readonly count: number;
}

/** Counts equal states, the most frequent first. */
export function countStates(states: readonly string[]): readonly StateCount[] {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return Array.from(counts, ([state, count]) => ({ state, count })).toSorted(
    (one, other) => other.count - one.count,
  );
}
