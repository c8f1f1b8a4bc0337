import { sql } from 'kysely';
import type { Books, Engine } from '../engine/books.ts';
import { dayOfMs, nameDay } from '../engine/days.ts';
import { readBooksProgress } from '../stream/books-lease.ts';
import { readVerifiedFact } from '../verify/verified-fact.ts';
import type { QuestionContext } from './question.ts';

/** What the settings say about the books. */
export interface StatusQuery {
  readonly keepDays: number;
  /** Where archives go; null where nothing is archived. */
  readonly archive: string | null;
}

/** Names are those of the admin API. */
export interface BooksStatus {
  readonly engine: Engine;
  readonly id: string;
  /** The number of the last migration. */
  readonly schema: number;
  readonly books_until: string | null;
  readonly ingesting_node: string | null;
  readonly waiting_entries: number | null;
  readonly entries: number;
  readonly days: {
    readonly open: number;
    readonly closed: number;
    readonly archived: number;
    readonly first: string | null;
    readonly last: string | null;
  };
  readonly size_bytes: number;
  readonly keep_days: number;
  readonly archive: string | null;
  readonly gaps: number;
  readonly repeats: number;
  /** Late entries that do not count yet, since the archive may have them. */
  readonly doubtful: number;
  readonly verified_at: string | null;
  readonly drifts: number | null;
}

export async function readStatus(
  context: QuestionContext,
  { keepDays, archive }: StatusQuery,
  signal: AbortSignal,
): Promise<BooksStatus> {
  const { books } = context;
  const progress = await readBooksProgress(context.connection);
  signal.throwIfAborted();
  const { db } = books;
  const { books: id } = await db.selectFrom('ingestion').select('books').executeTakeFirstOrThrow();
  const migration = await db
    .selectFrom('migrations')
    .select(({ fn }) => fn.max<number>('number').as('last'))
    .executeTakeFirstOrThrow();
  const totals = await db
    .selectFrom('account_totals')
    .select(({ fn }) => fn.sum<number | null>('entries').as('entries'))
    .executeTakeFirstOrThrow();
  signal.throwIfAborted();
  return {
    engine: books.engine,
    id,
    schema: migration.last,
    books_until: progress?.untilMs === undefined ? null : new Date(progress.untilMs).toISOString(),
    ingesting_node: progress?.nodeId ?? null,
    waiting_entries: progress?.waitingEntries ?? null,
    entries: totals.entries ?? 0,
    days: await countDays(books, context.clock.nowMs()),
    size_bytes: await readSize(books),
    keep_days: keepDays,
    archive,
    gaps: await countRows(books, 'gaps'),
    repeats: await countRows(books, 'repeats'),
    doubtful: await countRows(books, 'doubtful'),
    ...(await readVerification(books)),
  };
}

/** Days to come are open too: entries have the time of Redis. Dropped days are in the archive. */
async function countDays({ db }: Books, nowMs: number): Promise<BooksStatus['days']> {
  const rows = await db.selectFrom('days').select(['day', 'state']).orderBy('day').execute();
  const today = dayOfMs(nowMs);
  const inTables = rows.filter(({ state }) => state === 'open');
  const open = inTables.filter(({ day }) => day >= today).length;
  const [first, last] = [rows.at(0), rows.at(-1)];
  return {
    open,
    closed: inTables.length - open,
    archived: rows.length - inTables.length,
    first: first === undefined ? null : nameDay(first.day),
    last: last === undefined ? null : nameDay(last.day),
  };
}

async function countRows({ db }: Books, table: 'gaps' | 'repeats' | 'doubtful'): Promise<number> {
  const { count } = await db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** With its indexes, and without what is not in the file yet. */
export async function readSize({ engine, db }: Books): Promise<number> {
  const asked =
    engine === 'postgres'
      ? sql<{ size: number }>`select pg_database_size(current_database()) as size`
      : sql<{
          size: number;
        }>`select page_count * page_size as size from pragma_page_count(), pragma_page_size()`;
  const { rows } = await asked.execute(db);
  return rows[0]?.size ?? 0;
}

async function readVerification(books: Books) {
  const fact = await readVerifiedFact(books);
  if (fact === undefined) return { verified_at: null, drifts: null };
  return { verified_at: new Date(fact.verified_ms).toISOString(), drifts: fact.drifts };
}
