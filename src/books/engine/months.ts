import { monthOf } from '../../lib/time/month.ts';
import { dayOfMs, msOfDay } from './days.ts';

/** A month whose usage is in `usage_months`, as long as no entry of it comes late. */
export interface ClosedMonthRow {
  readonly month: string;
  /** Distinguishes this closing from any other, before or after it. */
  readonly closing: string;
  /** All its sums as JSON, in the order of `SUM_COLUMNS`; null while it is being closed. */
  readonly sums: string | null;
  /** When somebody has compared its sums with those of its days. */
  readonly verified_ms: number | null;
}

/** The days of a month, without the last one. */
export interface DaysOfMonth {
  readonly first: number;
  readonly end: number;
}

/** `yyyymm`. */
export function monthOfDay(day: number): string {
  return monthOf(msOfDay(day));
}

export function daysOfMonth(month: string): DaysOfMonth {
  const year = Number(month.slice(0, 'yyyy'.length));
  const index = Number(month.slice('yyyy'.length)) - 1;
  return { first: dayOfMs(Date.UTC(year, index, 1)), end: dayOfMs(Date.UTC(year, index + 1, 1)) };
}
