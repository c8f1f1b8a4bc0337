import { waitUntil } from '../wait-until.ts';

const DAY_MS = 86_400_000;

/** Waits for the next day, in UTC, if it begins within this time: for tests of one day or month. */
export async function avoidMidnight(withinMs: number): Promise<void> {
  const isFarAway = () => DAY_MS - (Date.now() % DAY_MS) > withinMs;
  await waitUntil(isFarAway, 'the next day has begun', 2 * withinMs);
}
