import type { Books } from '../engine/books.ts';

/** Days in the archive that late entries may repeat, the oldest first. */
export async function listDaysToCompare({ db }: Pick<Books, 'db'>): Promise<number[]> {
  const rows = await db
    .selectFrom('days')
    .select('day')
    .where('day', 'in', db.selectFrom('unchecked').select('day'))
    // The archive of any other day is not complete.
    .where('archive', 'is not', null)
    .where('state', '<>', 'archived')
    .orderBy('day')
    .execute();
  return rows.map(({ day }) => day);
}
