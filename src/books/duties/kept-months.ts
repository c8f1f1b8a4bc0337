import { monthOf } from '../../lib/time/month.ts';
import { daysOfMonth, monthOfDay } from '../engine/months.ts';

/** Redis keeps what a key has spent in the current month and in so many months before it. */
const MONTHS_BEFORE = 2;

/** The first month, `yyyymm`, whose counters Redis always has. */
export function firstKeptMonth(nowMs: number): string {
  const now = new Date(nowMs);
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS_BEFORE, 1);
  return monthOf(first);
}

/**
 * The same for a round that follows one whose first month was `before`: at most one month later. A
 * clock that is months ahead for a while must not have the current month forgotten.
 */
export function nextKeptMonth(nowMs: number, before: string | undefined): string {
  const first = firstKeptMonth(nowMs);
  if (before === undefined) return first;
  const next = monthOfDay(daysOfMonth(before).end);
  return first < next ? first : next;
}
