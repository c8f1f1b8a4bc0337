import { CompiledQuery } from 'kysely';
import type { BooksTransaction, Engine } from '../engine/books.ts';
import type { BooksTables } from '../engine/tables.ts';
import { type BulkTable, COLUMNS, type ColumnType } from './columns.ts';

/** Rows in one statement of Postgres. */
const ROWS_AT_ONCE = 2_000;
const TYPES: Readonly<Record<ColumnType, string>> = {
  int: 'bigint[]',
  text: 'text[]',
  bytes: 'bytea[]',
};

interface Insert<Table extends BulkTable> {
  readonly columns: Table;
  /** The table itself, where it has another name than its columns. */
  readonly table?: string;
  readonly rows: readonly BooksTables[Table][];
  /** What follows `on conflict`. */
  readonly onConflict: string;
  /** What distinguishes one row from another. */
  readonly identity: readonly (keyof BooksTables[Table] & string)[];
}

/** Inserts many rows, and returns those that were new or changed one. */
export async function insertRows<Table extends BulkTable>(
  engine: Engine,
  tx: BooksTransaction,
  insert: Insert<Table>,
): Promise<readonly BooksTables[Table][]> {
  const { rows } = insert;
  if (engine === 'libsql') return await insertEach(tx, insert);
  const inserted: BooksTables[Table][] = [];
  for (let first = 0; first < rows.length; first += ROWS_AT_ONCE) {
    inserted.push(...(await insertLists(tx, insert, rows.slice(first, first + ROWS_AT_ONCE))));
  }
  return inserted;
}

/** One prepared statement, since libsql is called without a round trip. */
async function insertEach<Table extends BulkTable>(
  tx: BooksTransaction,
  { columns, table = columns, rows, onConflict }: Insert<Table>,
) {
  const names = Object.keys(COLUMNS[columns]) as (keyof BooksTables[Table] & string)[];
  const places = names.map(() => '?').join(',');
  const query = CompiledQuery.raw(
    `insert into "${table}" (${quote(names)}) values (${places}) on conflict ${onConflict}`,
  );
  const inserted: BooksTables[Table][] = [];
  for (const row of rows) {
    const parameters = names.map((name) => row[name]);
    const { numAffectedRows } = await tx.executeQuery({ ...query, parameters });
    if (numAffectedRows === 1n) inserted.push(row);
  }
  return inserted;
}

/** One statement with a list for each column. */
async function insertLists<Table extends BulkTable>(
  tx: BooksTransaction,
  { columns, table = columns, onConflict, identity }: Insert<Table>,
  rows: readonly BooksTables[Table][],
) {
  const types = Object.entries(COLUMNS[columns]) as [
    keyof BooksTables[Table] & string,
    ColumnType,
  ][];
  const names = types.map(([name]) => name);
  const lists = types.map(([, type], i) => `$${i + 1}::${TYPES[type]}`).join(',');
  const query = CompiledQuery.raw(
    `insert into "${table}" (${quote(names)}) select * from unnest(${lists}) ` +
      `on conflict ${onConflict} returning ${quote(identity)}`,
    names.map((name) => rows.map((row) => row[name])),
  );
  const found = await tx.executeQuery<BooksTables[Table]>(query);
  if (found.rows.length === rows.length) return rows;
  const identify = (row: BooksTables[Table]) => identity.map((name) => row[name]).join(' ');
  const insertedIds = new Set(found.rows.map(identify));
  // Of equal rows only one was inserted.
  return rows.filter((row) => insertedIds.delete(identify(row)));
}

function quote(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(',');
}
