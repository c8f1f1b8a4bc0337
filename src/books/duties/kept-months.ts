import { monthOf } from '../../lib/time/month.ts';

/** Redis keeps what a key has spent in the current month and in so many months before it. */
const MONTHS_BEFORE = 2;

/** The first month, `yyyymm`, whose counters Redis always has. */
export function firstKeptMonth(nowMs: number): string {
  const now = new Date(nowMs);
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS_BEFORE, 1);
  return monthOf(first);
}
