import type { LiveDay, LiveDays } from '../archive/query-books.ts';
import type { Books } from '../engine/books.ts';
import type { DayRow } from '../engine/tables.ts';
import { sourceOfDay } from './source-of-day.ts';

export function createLiveDays(books: Pick<Books, 'db'>): LiveDays {
  return {
    list: async () => {
      const rows = await books.db.selectFrom('days').select(['day', 'state', 'archive']).execute();
      return rows.map(({ day, ...row }) => ({ day, has: whatIsHere(row) }));
    },
    open: (day) => sourceOfDay(books, day),
  };
}

function whatIsHere({ state, archive }: Pick<DayRow, 'state' | 'archive'>): LiveDay['has'] {
  if (state === 'dropped') return 'nothing';
  return state === 'open' && archive !== null ? 'rest' : 'all';
}
