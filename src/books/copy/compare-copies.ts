import { type RawBuilder, sql } from 'kysely';
import type { Books } from '../engine/books.ts';
import { COLUMNS } from '../writing/columns.ts';
import type { CopiedTable } from './copied-tables.ts';

/** Keeps sums small enough for both engines; any large prime. */
const MODULUS = 1_000_003;

/** The sums of every column that differ. What nodes have refused since is left out. */
export async function compareCopies(
  from: Books,
  to: Books,
  table: CopiedTable,
): Promise<readonly string[]> {
  if (table.isShared && table.columns !== 'entries') return [];
  const expected = await sumTable(from, table);
  const found = await sumTable(to, table);
  return Object.keys(expected)
    .filter((name) => expected[name] !== found[name])
    .map((name) => `${table.name}.${name}`);
}

export async function countRows({ db }: Books, { name }: CopiedTable): Promise<number> {
  const { rows } = await sql<{
    readonly rows: number;
  }>`select count(*) as rows from ${sql.table(name)}`.execute(db);
  return rows[0]?.rows ?? 0;
}

async function sumTable(
  { db }: Books,
  { columns, name }: CopiedTable,
): Promise<Readonly<Record<string, number>>> {
  const sums: RawBuilder<unknown>[] = [sql`count(*) as ${sql.id('rows')}`];
  for (const [column, type] of Object.entries(COLUMNS[columns])) {
    const value = sql.id(column);
    const figure = type === 'int' ? sql`${value} % ${sql.lit(MODULUS)}` : sql`length(${value})`;
    sums.push(sql`coalesce(sum(${figure}), 0) as ${value}`);
  }
  const condition = columns === 'entries' ? sql`where kind <> 'refused'` : sql``;
  const { rows } = await sql<
    Record<string, number>
  >`select ${sql.join(sums)} from ${sql.table(name)} ${condition}`.execute(db);
  return rows[0] ?? {};
}
