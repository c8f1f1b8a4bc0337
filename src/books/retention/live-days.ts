import type { LiveDay, LiveDays } from '../archive/query-books.ts';
import type { Books } from '../engine/books.ts';
import { type DayState, listDayStates } from '../engine/day-states.ts';
import { sourceOfDay } from './source-of-day.ts';

export function createLiveDays(books: Pick<Books, 'db'>): LiveDays {
  return {
    list: async () =>
      (await listDayStates(books)).map((row) => ({ day: row.day, has: whatIsHere(row) })),
    open: (day) => sourceOfDay(books, day),
  };
}

function whatIsHere({ state, hasArchive }: DayState): LiveDay['has'] {
  if (state === 'dropped') return 'nothing';
  return state === 'open' && hasArchive ? 'rest' : 'all';
}
