import { DAY_MS, HOUR_MS } from '../../lib/units/time-units.ts';

export function dayOfMs(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

export function hourOfMs(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}

export function msOfDay(day: number): number {
  return day * DAY_MS;
}

/** `2026-11-23`. */
export function nameDay(day: number): string {
  return new Date(msOfDay(day)).toISOString().slice(0, 'yyyy-mm-dd'.length);
}

/**
 * The table of a day's entries, `entries_20261123`. All days have the same columns, so queries are
 * typed as if there were one table: name its columns without it.
 */
export function entriesOf(day: number): 'entries' {
  return `entries_${nameDay(day).replaceAll('-', '')}` as 'entries';
}
