import type { Books } from './books.ts';
import type { DayRow } from './tables.ts';

export interface DayState extends Pick<DayRow, 'day' | 'state'> {
  readonly hasArchive: boolean;
}

/** For all days, without their manifests: these are long, and each batch asks for this. */
export async function listDayStates({ db }: Pick<Books, 'db'>): Promise<DayState[]> {
  const rows = await db
    .selectFrom('days')
    .select(['day', 'state'])
    .select((is) => is('archive', 'is not', null).as('hasArchive'))
    .orderBy('day')
    .execute();
  return rows.map((row) => ({ ...row, hasArchive: Boolean(row.hasArchive) }));
}
