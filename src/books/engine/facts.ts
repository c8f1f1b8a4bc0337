import type { Kysely } from 'kysely';
import type { BooksTables } from './tables.ts';

/** Small things that are kept with the books, each under a name, as JSON. */
export async function recallFact<Fact>(
  db: Kysely<BooksTables>,
  name: string,
): Promise<Fact | undefined> {
  const row = await db
    .selectFrom('facts')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst();
  return row === undefined ? undefined : (JSON.parse(row.value) as Fact);
}

export async function keepFact(db: Kysely<BooksTables>, name: string, fact: object): Promise<void> {
  const value = JSON.stringify(fact);
  await db
    .insertInto('facts')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
