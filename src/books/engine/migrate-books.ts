import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Books, BooksTransaction, Engine } from './books.ts';
import { entriesOf } from './days.ts';
import { entriesStatements, INDEXES_VERSION, MIGRATIONS, statementsOf } from './migrations.ts';

/** Any number, the same for all versions: whoever holds it migrates. */
const LOCK = 7_465_211;
/** Whoever waits longer for a table keeps the ingester waiting, too. */
const LOCK_TIMEOUT_MS = 5_000;
/** While a migration waits, so do all that would read its table: nodes of earlier versions. */
const MIGRATE_LOCK_TIMEOUT_MS = 1_000;
const LOCK_NOT_AVAILABLE_CODE = '55P03';

/**
 * Carries out the migrations that the books have not had. All nodes may do so at once. Migrations
 * that this version does not know are left alone: each is safe beside the version before it. It
 * fails while a table is in use for a long time, as by a backup.
 */
export async function migrateBooks({ engine, db }: Books, nowMs: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockBooks(engine, tx);
    const [numberType] = statementsOf(engine, ['INT']);
    await sql
      .raw(
        `create table if not exists migrations (number ${numberType} primary key, applied_ms ${numberType} not null)`,
      )
      .execute(tx);
    const known = await tx.selectFrom('migrations').select('number').execute();
    const isDone = new Set(known.map(({ number }) => number));
    await limitLockWait(engine, tx, MIGRATE_LOCK_TIMEOUT_MS);
    for (const { number, statements } of MIGRATIONS) {
      if (isDone.has(number)) continue;
      for (const statement of statementsOf(engine, statements))
        await sql.raw(statement).execute(tx);
      await tx.insertInto('migrations').values({ number, applied_ms: nowMs }).execute();
    }
    await tx
      .insertInto('ingestion')
      .values({ id: 1, books: randomUUID(), version: 0, cursors: '{}', audit_cursor: '0-0' })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
}

/**
 * Makes the table of a day's entries, unless there is one. A day that was dropped is open again,
 * and has rows that its archive lacks: see `restore-day.ts`.
 */
export async function openDay({ engine, db }: Books, day: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockBooks(engine, tx);
    for (const statement of entriesStatements(engine, entriesOf(day))) {
      await sql.raw(statement).execute(tx);
    }
    await tx
      .insertInto('days')
      .values({ day, state: 'open', verified: null, archive: null, indexes: INDEXES_VERSION })
      .onConflict((conflict) =>
        conflict
          .column('day')
          .doUpdateSet({ state: 'open', verified: null, indexes: INDEXES_VERSION })
          .where('days.state', '=', 'dropped'),
      )
      .execute();
  });
}

/** The days that have a table, the newest first. */
export async function listDays({ db }: Pick<Books, 'db'>): Promise<number[]> {
  const rows = await db
    .selectFrom('days')
    .select('day')
    .where('state', '<>', 'dropped')
    .orderBy('day', 'desc')
    .execute();
  return rows.map(({ day }) => day);
}

/** Locks until the end of the transaction; libsql has only one writer anyway. */
export async function lockBooks(engine: Engine, tx: BooksTransaction): Promise<void> {
  if (engine === 'postgres') await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
}

/**
 * Locks until the transaction ends; libsql has only one writer anyway. Both modes keep writers
 * out; the first lets in readers, but no others of this kind, so the second one can follow.
 */
export async function lockDay(
  engine: Engine,
  tx: BooksTransaction,
  day: number,
  mode: 'share row exclusive' | 'access exclusive',
): Promise<void> {
  if (engine === 'libsql') return;
  await sql.raw(`lock table ${entriesOf(day)} in ${mode} mode`).execute(tx);
}

/** Lasts until the end of the transaction. */
export async function limitLockWait(
  engine: Engine,
  tx: BooksTransaction,
  timeoutMs = LOCK_TIMEOUT_MS,
): Promise<void> {
  if (engine === 'libsql') return;
  await sql.raw(`set local lock_timeout = ${timeoutMs}`).execute(tx);
}

/** Whether others held a table for longer than the limit of waiting. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === LOCK_NOT_AVAILABLE_CODE;
}
