import { sql } from 'kysely';
import type { Books } from '../engine/books.ts';

/** The days that have sums, each found by one search of an index: there are millions of rows. */
export async function listRollupDays({ db }: Pick<Books, 'db'>): Promise<number[]> {
  const { rows } = await sql<{ readonly day: number }>`
    with recursive found (day) as (
      select min(day) from account_days
      union all
      select (select min(day) from account_days where day > found.day)
      from found where found.day is not null
    )
    select day from found where day is not null order by day`.execute(db);
  return rows.map(({ day }) => day);
}
