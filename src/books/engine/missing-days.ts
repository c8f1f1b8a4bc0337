import type { Books } from './books.ts';
import { type DayState, listDayStates } from './day-states.ts';

/**
 * Whether the archive has entries of a day that the books do not. Late entries may have opened such
 * a day again.
 */
export function isMissingDay({ state, hasArchive }: DayState): boolean {
  return state === 'dropped' || (state === 'open' && hasArchive);
}

/** The days that are missing, the oldest first. */
export async function listMissingDays(books: Pick<Books, 'db'>): Promise<number[]> {
  return (await listDayStates(books)).filter(isMissingDay).map(({ day }) => day);
}
