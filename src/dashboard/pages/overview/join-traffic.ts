import type { Sample } from '../../sample.ts';

const MS_PER_SECOND = 1_000;

/** Rows of the history, followed by the seconds that they do not cover yet. */
export function joinHour(rows: readonly Sample[], live: readonly Sample[]): readonly Sample[] {
  const endMs = rows.at(-1)?.atMs ?? 0;
  return [...rows, ...live.filter((sample) => startOf(sample) >= endMs)];
}

/** The seconds of the last minutes, and rows of the history for the time that was not seen. */
export function joinMinutes(
  rows: readonly Sample[],
  live: readonly Sample[],
  minutes: number,
): readonly Sample[] {
  const isSeen = (row: Sample) =>
    live.some((sample) => startOf(sample) < row.atMs && sample.atMs > startOf(row));
  const endMs = Math.max(live.at(-1)?.atMs ?? 0, rows.at(-1)?.atMs ?? 0);
  const isRecent = ({ atMs }: Sample) => endMs - atMs < minutes * 60 * MS_PER_SECOND;
  const unseen = rows.filter((row) => isRecent(row) && !isSeen(row));
  return [...unseen, ...live.filter(isRecent)].toSorted((one, other) => one.atMs - other.atMs);
}

const startOf = ({ atMs, seconds }: Sample): number => atMs - seconds * MS_PER_SECOND;
