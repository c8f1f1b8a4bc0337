import { dayOfMs } from '../engine/days.ts';

/** The first day that is not older than the setting `books.keep`. */
export function firstKeptDay(nowMs: number, keepMs: number): number {
  return dayOfMs(nowMs - keepMs);
}
