import type { Sample } from '../../sample.ts';

const MS_PER_SECOND = 1_000;

/** Rows of the history, and behind them the seconds that they do not tell of yet. */
export function joinHour(rows: readonly Sample[], live: readonly Sample[]): readonly Sample[] {
  const endMs = rows.at(-1)?.atMs ?? 0;
  return [...rows, ...live.filter((sample) => startOf(sample) >= endMs)];
}

/** The seconds of the last minutes, and before them rows of the history if they were not seen. */
export function joinMinutes(
  rows: readonly Sample[],
  live: readonly Sample[],
  minutes: number,
): readonly Sample[] {
  const [first] = live;
  const before = first === undefined ? rows : rows.filter(({ atMs }) => atMs <= startOf(first));
  const joined = [...before, ...live];
  const endMs = joined.at(-1)?.atMs ?? 0;
  return joined.filter(({ atMs }) => endMs - atMs < minutes * 60 * MS_PER_SECOND);
}

const startOf = ({ atMs, seconds }: Sample): number => atMs - seconds * MS_PER_SECOND;
