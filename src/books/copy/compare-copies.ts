import { type RawBuilder, sql } from 'kysely';
import type { Books } from '../engine/books.ts';
import { COLUMNS } from '../writing/columns.ts';
import type { CopiedTable } from './copied-tables.ts';

/** Keeps sums small enough for both engines; any large prime. */
const MODULUS = 1_000_003;
const ROWS_MAX = 100_000;

interface CompareOptions {
  readonly from: Books;
  readonly to: Books;
  readonly signal: AbortSignal;
}

/** The values of a row's key. */
type Place = readonly (string | number)[];

/**
 * The columns whose sums differ somewhere. What nodes have refused since is left out. No statement
 * may take longer than the client waits for its answer, so this is done for some rows at a time.
 */
export async function compareCopies(
  { from, to, signal }: CompareOptions,
  table: CopiedTable,
  rowsMax = ROWS_MAX,
): Promise<readonly string[]> {
  if (table.isShared && table.columns !== 'entries') return [];
  const differing = new Set<string>();
  let after: Place | undefined;
  do {
    signal.throwIfAborted();
    const upTo = await findEnd(from, table, after, rowsMax);
    const expected = await sumRows(from, table, { after, upTo });
    const found = await sumRows(to, table, { after, upTo });
    for (const name of Object.keys(expected)) {
      if (expected[name] !== found[name]) differing.add(`${table.name}.${name}`);
    }
    after = upTo;
  } while (after !== undefined);
  return [...differing];
}

export async function countRows({ db }: Books, { name }: CopiedTable): Promise<number> {
  const { rows } = await sql<{
    readonly rows: number;
  }>`select count(*) as rows from ${sql.table(name)}`.execute(db);
  return rows[0]?.rows ?? 0;
}

/** Undefined at the end of the table. */
async function findEnd(
  { db }: Books,
  { name, key }: CopiedTable,
  after: Place | undefined,
  rowsMax: number,
): Promise<Place | undefined> {
  const columns = columnsOf(key);
  const behind = after === undefined ? sql`` : sql`where (${columns}) > (${sql.join(after)})`;
  const { rows } = await sql<
    Readonly<Record<string, string | number>>
  >`select ${columns} from ${sql.table(name)} ${behind}
    order by ${columns} limit 1 offset ${sql.lit(rowsMax - 1)}`.execute(db);
  return rows[0] && Object.values(rows[0]);
}

async function sumRows(
  { db }: Books,
  { columns, name, key }: CopiedTable,
  { after, upTo }: { readonly after: Place | undefined; readonly upTo: Place | undefined },
): Promise<Readonly<Record<string, number>>> {
  const sums: RawBuilder<unknown>[] = [sql`count(*) as ${sql.id('rows')}`];
  for (const [column, type] of Object.entries(COLUMNS[columns])) {
    const value = sql.id(column);
    const figure = type === 'int' ? sql`${value} % ${sql.lit(MODULUS)}` : sql`length(${value})`;
    sums.push(sql`coalesce(sum(${figure}), 0) as ${value}`);
  }
  const conditions = [columns === 'entries' ? sql`kind <> 'refused'` : sql`1 = 1`];
  if (after !== undefined) conditions.push(sql`(${columnsOf(key)}) > (${sql.join(after)})`);
  if (upTo !== undefined) conditions.push(sql`(${columnsOf(key)}) <= (${sql.join(upTo)})`);
  const { rows } = await sql<Record<string, number>>`
    select ${sql.join(sums)} from ${sql.table(name)}
    where ${sql.join(conditions, sql` and `)}`.execute(db);
  return rows[0] ?? {};
}

function columnsOf(key: CopiedTable['key']): RawBuilder<unknown> {
  return sql.join(key.map((column) => sql.id(column)));
}
