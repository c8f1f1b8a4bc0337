import { RARE_ROWS_MAX } from './scan-day.ts';
import type { CountDay } from './slice-day.ts';

/** Days in one query, whose plan takes time for each of them. */
const DAYS_AT_ONCE_MAX = 8;

/** Days that are searched together, the newest first. */
export interface DayGroup {
  readonly days: readonly [number, ...number[]];
  /** How many rows an index leads to; undefined if only the hours of the one day show it. */
  readonly rows: number | undefined;
}

/** Groups days for which an index leads to few rows each. */
export function groupDays(days: readonly number[], rowsOf: CountDay): DayGroup[] {
  const groups: { days: [number, ...number[]]; rows: number | undefined; hasRoom: boolean }[] = [];
  for (const day of days) {
    const rows = rowsOf(day);
    const isFew = rows !== undefined && rows <= RARE_ROWS_MAX;
    const last = groups.at(-1);
    if (last?.hasRoom && isFew) {
      last.days.push(day);
      last.rows = (last.rows ?? 0) + rows;
      last.hasRoom = last.days.length < DAYS_AT_ONCE_MAX;
    } else groups.push({ days: [day], rows, hasRoom: isFew });
  }
  return groups;
}
