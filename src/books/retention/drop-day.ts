import { sql } from 'kysely';
import { HOUR_MS } from '../../lib/units/time-units.ts';
import { encodeManifest, type Manifest } from '../archive/manifest.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { entriesOf, msOfDay, nameDay } from '../engine/days.ts';
import { limitLockWait, lockBooks, lockDay } from '../engine/migrate-books.ts';
import type { DayRow } from '../engine/tables.ts';
import { decodeManifest } from '../verify/verified-day.ts';

const SUMS = ['rows', 'held', 'charged', 'short'] as const;

/**
 * To be called once the archive of the day was read back. Throws if the day is not what it was
 * before: another process may have dropped its table, and late entries may have opened it again.
 */
export async function noteArchived(
  { db }: Books,
  { day, state, archive }: Pick<DayRow, 'day' | 'state' | 'archive'>,
  manifest: Manifest,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('days')
    .set({ state: 'archived', archive: encodeManifest(manifest) })
    .where('day', '=', day)
    .where('state', '=', state)
    .where('archive', archive === null ? 'is' : '=', archive)
    .executeTakeFirst();
  if (numUpdatedRows === 1n) return;
  throw new Error(`${nameDay(day)} was changed by another process while it was archived`);
}

/**
 * Drops the table of an archived day, unless it has other sums than the archive. One transaction
 * does both, so nothing can be entered in between. The sums may take minutes: until they are known,
 * the day can be read, and nobody who opens another one has to wait.
 */
export async function dropDay({ engine, db }: Books, day: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await limitLockWait(engine, tx);
    await lockDay(engine, tx, day, 'share row exclusive');
    const row = await tx
      .selectFrom('days')
      .select(['state', 'archive'])
      .where('day', '=', day)
      .executeTakeFirst();
    const archive = decodeManifest(row?.archive ?? null);
    if (row?.state !== 'archived' || archive === undefined) {
      throw new Error(`${nameDay(day)} is not archived: its entries stay in the books`);
    }
    const sums = await sumTable(tx, day);
    const differences = SUMS.filter((name) => sums[name] !== archive[name]);
    if (differences.length > 0) {
      throw new Error(
        `${nameDay(day)} has changed since it was archived (${differences.join(', ')}): its entries stay in the books until the next run`,
      );
    }
    await lockDay(engine, tx, day, 'access exclusive');
    await lockBooks(engine, tx);
    await sql.raw(`drop table ${entriesOf(day)}`).execute(tx);
    await tx
      .updateTable('days')
      .set({ state: 'dropped', indexes: null })
      .where('day', '=', day)
      .execute();
  });
}

/** An hour at a time: no statement may take longer than the client waits for its answer. */
async function sumTable(tx: BooksTransaction, day: number) {
  const sums = { rows: 0, held: 0, charged: 0, short: 0 };
  for (let fromMs = msOfDay(day); fromMs < msOfDay(day + 1); fromMs += HOUR_MS) {
    const ofHour = await tx
      .selectFrom(entriesOf(day))
      .select([
        sql<number>`count(*)`.as('rows'),
        sql<number>`coalesce(sum(held), 0)`.as('held'),
        sql<number>`coalesce(sum(charged), 0)`.as('charged'),
        sql<number>`coalesce(sum(short), 0)`.as('short'),
      ])
      .where('ms', '>=', fromMs)
      .where('ms', '<', fromMs + HOUR_MS)
      .executeTakeFirstOrThrow();
    for (const name of SUMS) sums[name] += ofHour[name];
  }
  return sums;
}
