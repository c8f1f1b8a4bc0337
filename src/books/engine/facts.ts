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

/** All facts whose names begin with this prefix, in the order of their names. */
export async function recallFacts<Fact>(db: Kysely<BooksTables>, prefix: string): Promise<Fact[]> {
  const rows = await db
    .selectFrom('facts')
    .select('value')
    .where('name', 'like', `${prefix}%`)
    .orderBy('name')
    .execute();
  return rows.map(({ value }) => JSON.parse(value) as Fact);
}

/** Forgets the fact, unless it has changed by now. */
export async function forgetFact(
  db: Kysely<BooksTables>,
  name: string,
  fact: object,
): Promise<void> {
  const value = JSON.stringify(fact);
  await db.deleteFrom('facts').where('name', '=', name).where('value', '=', value).execute();
}
