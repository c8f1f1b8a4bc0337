import type { Books } from './books.ts';
import type { DayRow } from './tables.ts';

/**
 * Whether the archive has entries of a day that the books do not. Late entries may have opened such
 * a day again.
 */
export function isMissingDay({ state, archive }: Pick<DayRow, 'state' | 'archive'>): boolean {
  return state === 'dropped' || (state === 'open' && archive !== null);
}

/** The days that are missing, the oldest first. */
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
