import { existsSync, readdirSync } from 'node:fs';
import { sql } from 'kysely';
import type { ArchiveStore } from '../../../src/books/archive/archive-store.ts';
import { queryBooks } from '../../../src/books/archive/query-books.ts';
import type { Books } from '../../../src/books/engine/books.ts';
import { entriesOf, msOfDay } from '../../../src/books/engine/days.ts';
import type { EntryRow } from '../../../src/books/engine/tables.ts';
import { createLiveDays } from '../../../src/books/retention/live-days.ts';
import { type RetainOptions, retainBooks } from '../../../src/books/retention/retain-books.ts';
import { claimBooks, holdBooksLease } from '../../../src/books/stream/books-lease.ts';
import { readIngestion } from '../../../src/books/writing/write-batch.ts';
import type { RedisConnection } from '../../../src/redis/connect-redis.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { makeEntry } from '../books-scene.ts';

/** 2026-11-20. */
export const TODAY = 20_777;
export const KEEP_MS = 3 * 86_400_000;
const NOW_MS = msOfDay(TODAY) + 12 * 3_600_000;

/** Entries of a day, with and without what may be null. */
export function entriesOfDay(day: number, count: number, differing: Partial<EntryRow> = {}) {
  return Array.from({ length: count }, (_, index) =>
    makeEntry({
      ...{ ms: msOfDay(day) + index * 1_000, charged: 100 + index, seq: index },
      ...(index % 3 === 0 && { details: null, streamed: null, cost: null, upstream: null }),
      ...differing,
    }),
  );
}

/** Tells Redis, as an ingester does, that everything of these books is written. */
export async function noteProgress(
  books: Books,
  connection: Pick<RedisConnection, 'send'>,
  untilMs = NOW_MS,
): Promise<void> {
  const { books: booksId } = await readIngestion(books);
  await claimBooks(connection, booksId);
  const lease = { run: 'node 1', leaseMs: 60_000, booksId };
  await holdBooksLease(connection, { ...lease, untilMs, waitingEntries: 0 });
}

export interface Retained {
  readonly archived: string[];
  readonly failures: string[];
}

/** Runs the archiver in this process. */
export async function retain(
  order: Pick<RetainOptions, 'books' | 'connection' | 'place'> & Partial<RetainOptions>,
): Promise<Retained> {
  const retained: Retained = { archived: [], failures: [] };
  await retainBooks({
    ...{ keepMs: KEEP_MS, clock: { nowMs: () => NOW_MS }, tempFolder: createTempDir() },
    ...{ rowsPerFileMax: 40, signal: new AbortController().signal },
    onProgress: () => {},
    onArchived: ({ date }) => retained.archived.push(date),
    onFailure: (_day, { message }) => retained.failures.push(message),
    onForgotten: () => {},
    ...order,
  });
  return retained;
}

/** What a query over the archive and the books finds. */
export async function sumEverything(books: Books, place: ArchiveStore) {
  const tempFolder = createTempDir();
  const live = createLiveDays(books);
  let text = '';
  const question = 'SELECT count(*) AS entries, sum(charged) AS charged FROM entries';
  for await (const piece of queryBooks(question, { place, live, tempFolder, format: 'jsonl' })) {
    text += piece;
  }
  return JSON.parse(text) as { readonly entries: number; readonly charged: number };
}

export function sumEntries(entries: readonly EntryRow[]) {
  return {
    entries: entries.length,
    charged: entries.reduce((sum, { charged }) => sum + charged, 0),
  };
}

export async function readStates({ db }: Books): Promise<Record<number, string>> {
  const rows = await db.selectFrom('days').select(['day', 'state']).orderBy('day').execute();
  return Object.fromEntries(rows.map(({ day, state }) => [day - TODAY, state]));
}

export async function countTable({ db }: Books, day: number): Promise<number> {
  const row = await db
    .selectFrom(entriesOf(day))
    .select(sql<number>`count(*)`.as('rows'))
    .executeTakeFirstOrThrow();
  return row.rows;
}

/** The names of all files below. */
export function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`);
}
