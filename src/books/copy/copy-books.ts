import { sql } from 'kysely';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { keepFact, recallFact } from '../engine/facts.ts';
import { openDay } from '../engine/migrate-books.ts';
import type { DayRow, IngestionRow } from '../engine/tables.ts';
import { insertRows } from '../writing/insert-rows.ts';
import { compareCopies, countRows } from './compare-copies.ts';
import { type CopiedTable, listCopiedTables } from './copied-tables.ts';

const ROWS_AT_ONCE = 2_000;
const COPY = 'copy';

export interface CopyOptions {
  readonly from: Books;
  /** A writer. */
  readonly to: Books;
  readonly signal: AbortSignal;
  onProgress(progress: { readonly done: number; readonly total: number }): void;
}

interface CopyReport {
  /** The id of the books that entries may go to now. */
  readonly books: string;
  readonly rows: number;
  /** Columns whose sums differ. */
  readonly differences: readonly string[];
}

/** Which books are being copied, as noted in the database that they go to. */
interface CopyFact {
  readonly source: string;
  readonly version: number;
  readonly isDone: boolean;
}

/** How far a table is copied. */
interface TableFact {
  readonly after: readonly (string | number)[];
  readonly rows: number;
  readonly isWhole: boolean;
}

/**
 * Copies whole books into a database that has none yet. It may be stopped and called again, and
 * continues where it was: each page is one transaction, with the place after it. The cursors come
 * last, so a part of the books is never taken for all of them.
 */
export async function copyBooks(options: CopyOptions): Promise<CopyReport> {
  const { from, to, onProgress } = options;
  await refuseOtherSchema(from, to);
  const source = await readIngestion(from);
  const known = await begin(to, source);
  const days = await from.db.selectFrom('days').selectAll().orderBy('day').execute();
  const live = days.filter(({ state }) => state !== 'dropped').map(({ day }) => day);
  const tables = listCopiedTables(live);
  let total = 0;
  for (const table of tables) total += await countRows(from, table);
  let done = 0;
  if (!known.isDone) {
    for (const day of live) await openDay(to, day);
    for (const table of tables) {
      done += await copyTable(options, table, (rows) => onProgress({ done: done + rows, total }));
    }
  }
  const differences: string[] = [];
  for (const table of tables) {
    differences.push(...(await compareCopies(options, table)));
  }
  const { books, version } = await readIngestion(from);
  if (books !== source.books || version !== source.version) throw changed();
  if (differences.length === 0 && !known.isDone) await finish(to, source, days);
  return { books: (await readIngestion(to)).books, rows: total, differences };
}

function readIngestion({ db }: Books): Promise<IngestionRow> {
  return db.selectFrom('ingestion').selectAll().executeTakeFirstOrThrow();
}

async function refuseOtherSchema(from: Books, to: Books): Promise<void> {
  const read = async ({ db }: Books) =>
    (await db.selectFrom('migrations').select('number').orderBy('number').execute())
      .map(({ number }) => number)
      .join(' ');
  if ((await read(from)) === (await read(to))) return;
  throw new Error('the file is of another version: start a node of this version with it once');
}

/** Throws if the database has books of its own, or a part of others. */
async function begin(to: Books, { books, version }: IngestionRow): Promise<CopyFact> {
  const known = await recallFact<CopyFact>(to.db, COPY);
  if (known !== undefined) {
    if (known.source !== books || known.version !== version) throw changed();
    return known;
  }
  const own = await readIngestion(to);
  const payments = await to.db.selectFrom('payments').select('payment').limit(1).execute();
  if (own.version !== 0 || payments.length > 0) {
    throw new Error('the database of these settings has books already: only an empty one will do');
  }
  const fact = { source: books, version, isDone: false };
  await keepFact(to.db, COPY, fact);
  return fact;
}

function changed(): Error {
  return new Error(
    'the file was written after the copy began: copy it into an empty database once no node writes it',
  );
}

/** Returns how many rows it has. */
async function copyTable(
  { from, to, signal }: CopyOptions,
  table: CopiedTable,
  onRows: (rows: number) => void,
): Promise<number> {
  const name = `${COPY} ${table.name}`;
  let fact = (await recallFact<TableFact>(to.db, name)) ?? { after: [], rows: 0, isWhole: false };
  onRows(fact.rows);
  while (!fact.isWhole) {
    signal.throwIfAborted();
    const page = await readPage(from, table, fact.after);
    const last = page.at(-1);
    const next: TableFact = {
      after: last === undefined ? fact.after : table.key.map((column) => last[column] as string),
      rows: fact.rows + page.length,
      isWhole: page.length < ROWS_AT_ONCE,
    };
    await to.db.transaction().execute(async (tx) => {
      await insertRows(to.engine, tx, {
        ...{ columns: table.columns, table: table.name, onConflict: 'do nothing' },
        ...{ rows: page as never[], identity: table.key as never[] },
      });
      await keepFact(tx, name, next);
    });
    fact = next;
    onRows(fact.rows);
  }
  return fact.rows;
}

async function readPage(
  { db }: Books,
  { name, key }: CopiedTable,
  after: TableFact['after'],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const columns = sql.join(key.map((column) => sql.id(column)));
  const behind = after.length === 0 ? sql`` : sql`where (${columns}) > (${sql.join(after)})`;
  const { rows } = await sql<
    Record<string, unknown>
  >`select * from ${sql.table(name)} ${behind} order by ${columns} limit ${ROWS_AT_ONCE}`.execute(
    db,
  );
  return rows;
}

async function finish(to: Books, source: IngestionRow, days: readonly DayRow[]): Promise<void> {
  await to.db.transaction().execute(async (tx) => {
    for (const day of days) await keepDay(tx, day);
    const { numUpdatedRows } = await tx
      .updateTable('ingestion')
      .set({
        version: source.version,
        cursors: source.cursors,
        audit_cursor: source.audit_cursor,
      })
      .where('version', '=', 0)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) throw new Error('a node has begun to write to the database');
    await tx.deleteFrom('facts').where('name', 'like', `${COPY} %`).execute();
    await keepFact(tx, COPY, { source: source.books, version: source.version, isDone: true });
  });
}

/** A day that is only half archived is archived again, and what was verified is read again. */
async function keepDay(tx: BooksTransaction, { day, state, verified, archive }: DayRow) {
  const isHere = state !== 'dropped';
  const row = {
    ...{ day, state: state === 'archived' ? ('open' as const) : state },
    ...{ verified: isHere ? null : verified, archive: state === 'archived' ? null : archive },
  };
  await tx
    .insertInto('days')
    .values(row)
    .onConflict((conflict) =>
      // A table that nodes have made for what they refuse stays.
      conflict.column('day').doUpdateSet({ verified: row.verified, archive: row.archive }),
    )
    .execute();
}
