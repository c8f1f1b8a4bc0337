import { sql } from 'kysely';
import type { Books } from '../../src/books/engine/books.ts';

/** A table, or all tables of entries together. */
export interface TableSize {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  readonly indexBytes: number;
}

interface Part {
  readonly table: string;
  readonly isIndex: boolean;
  readonly bytes: number;
}

/** The largest first. */
export async function measureSizes(books: Books): Promise<TableSize[]> {
  const parts = books.engine === 'libsql' ? await readPages(books) : await readRelations(books);
  const sizes = new Map<string, { rows: number; bytes: number; indexBytes: number }>();
  const counted = new Set<string>();
  for (const { table, isIndex, bytes } of parts) {
    const name = table.startsWith('entries_') ? 'entries' : table;
    const size = sizes.get(name) ?? { rows: 0, bytes: 0, indexBytes: 0 };
    sizes.set(name, size);
    if (isIndex) size.indexBytes += bytes;
    else size.bytes += bytes;
    if (counted.has(table)) continue;
    counted.add(table);
    size.rows += await countRows(books, table);
  }
  return [...sizes]
    .map(([table, size]) => ({ table, ...size }))
    .toSorted((one, other) => other.bytes + other.indexBytes - one.bytes - one.indexBytes);
}

async function countRows({ db }: Books, table: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(
    db,
  );
  return rows[0]?.n ?? 0;
}

/** A table without row ids is its primary key; other keys are indexes. */
async function readPages({ db }: Books): Promise<Part[]> {
  const { rows } = await sql<{ table: string; type: string; bytes: number }>`
    select m.tbl_name as "table", m.type, s.pgsize as bytes
    from dbstat s join sqlite_master m on m.name = s.name
    where s.aggregate = true`.execute(db);
  return rows.map(({ table, type, bytes }) => ({ table, isIndex: type === 'index', bytes }));
}

async function readRelations({ db }: Books): Promise<Part[]> {
  const { rows } = await sql<{ table: string; bytes: number; index_bytes: number }>`
    select relname as "table", pg_table_size(oid) as bytes, pg_indexes_size(oid) as index_bytes
    from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(db);
  return rows.flatMap(({ table, bytes, index_bytes: indexBytes }) => [
    { table, isIndex: false, bytes },
    { table, isIndex: true, bytes: indexBytes },
  ]);
}
