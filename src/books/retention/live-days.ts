import type { LiveDays } from '../archive/query-books.ts';
import type { Books } from '../engine/books.ts';
import { sourceOfDay } from './source-of-day.ts';

/** The days that have a table. */
export function createLiveDays(books: Pick<Books, 'db'>): LiveDays {
  return {
    list: async () => {
      const rows = await books.db
        .selectFrom('days')
        .select(['day', 'state', 'archive'])
        .where('state', '<>', 'dropped')
        .execute();
      return rows.map(({ day, state, archive }) => ({
        day,
        isRest: state === 'open' && archive !== null,
      }));
    },
    open: (day) => sourceOfDay(books, day),
  };
}
