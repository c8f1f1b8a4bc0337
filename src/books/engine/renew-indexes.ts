import { sql } from 'kysely';
import type { Books } from './books.ts';
import { entriesOf } from './days.ts';
import { limitLockWait, lockDay } from './migrate-books.ts';
import { entriesStatements, INDEXES_VERSION } from './migrations.ts';

/** The newest day before this one that an earlier version has made; undefined if there is none. */
export async function findDayToRenew(
  { db }: Pick<Books, 'db'>,
  beforeDay: number,
): Promise<number | undefined> {
  const found = await selectLacking(db)
    .where('day', '<', beforeDay)
    .orderBy('day', 'desc')
    .executeTakeFirst();
  return found?.day;
}

/**
 * Gives a day the indexes of this version. Whoever writes to it waits while one of them is built,
 * so it must be closed.
 *
 * Each step is a transaction of its own. So what was built stays if the last step fails, which
 * drops an index: it alone waits for those who read the day, and keeps others from reading it.
 */
export async function renewIndexes({ engine, db }: Books, day: number): Promise<void> {
  for (const statement of entriesStatements(engine, entriesOf(day))) {
    await db.transaction().execute(async (tx) => {
      await limitLockWait(engine, tx);
      await lockDay(engine, tx, day, 'share row exclusive');
      const left = await selectLacking(tx).where('day', '=', day).executeTakeFirst();
      if (left !== undefined) await sql.raw(statement).execute(tx);
    });
  }
  await db
    .updateTable('days')
    .set({ indexes: INDEXES_VERSION })
    .where('day', '=', day)
    .where('state', '<>', 'dropped')
    .execute();
}

function selectLacking(db: Books['db']) {
  return db
    .selectFrom('days')
    .select('day')
    .where('state', '<>', 'dropped')
    .where((is) => is.or([is('indexes', 'is', null), is('indexes', '<', INDEXES_VERSION)]));
}
