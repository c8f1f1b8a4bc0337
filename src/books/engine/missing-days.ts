import type { Books } from './books.ts';

/**
 * The days of which the archive has entries that the books do not, the oldest first. Late entries
 * may have opened such a day again.
 */
export async function listMissingDays({ db }: Pick<Books, 'db'>): Promise<number[]> {
  const rows = await db
    .selectFrom('days')
    .select('day')
    .where((is) =>
      is.or([
        is('state', '=', 'dropped'),
        is.and([is('state', '=', 'open'), is('archive', 'is not', null)]),
      ]),
    )
    .orderBy('day')
    .execute();
  return rows.map(({ day }) => day);
}
