import { sql } from 'kysely';
import type { BooksTransaction } from '../engine/books.ts';
import { hourOfMs, msOfDay, nameDay } from '../engine/days.ts';
import { compareSums, rollupSide, USAGE_KEYS } from './compare-sums.ts';
import type { SumDrift } from './ledger-report.ts';

const HOURS_OF_DAY = 24;

/** Compares the rollups of a day, each with the finer one that it sums up. */
export async function checkRollups(tx: BooksTransaction, day: number): Promise<SumDrift[]> {
  const first = hourOfMs(msOfDay(day));
  const hours = sql`hour >= ${first} and hour < ${first + HOURS_OF_DAY}`;
  const ofDay = sql`day = ${day}`;
  const fleetKeys = ['hour', 'model', 'upstream'];
  const compared = [
    [rollupSide('usage_days', ofDay, USAGE_KEYS), rollupSide('usage_hours', hours, USAGE_KEYS)],
    [rollupSide('account_days', ofDay, ['account']), rollupSide('usage_days', ofDay, ['account'])],
    [rollupSide('fleet_hours', hours, fleetKeys), rollupSide('usage_hours', hours, fleetKeys)],
  ] as const;
  const drifts: SumDrift[] = [];
  for (const [sums, rows] of compared)
    drifts.push(...(await compareSums(tx, nameDay(day), sums, rows)));
  return drifts;
}
