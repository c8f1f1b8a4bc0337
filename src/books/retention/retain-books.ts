import { rm } from 'node:fs/promises';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { BOOKS_KEYS } from '../../redis/redis-keys.ts';
import type { Books } from '../engine/books.ts';
import { msOfDay } from '../engine/days.ts';
import { readBooksProgress } from '../stream/books-lease.ts';
import { readIngestion } from '../writing/write-batch.ts';
import {
  type ArchiveDaysOptions,
  archiveOldDays,
  type DueDay,
  listDueDays,
} from './archive-old-days.ts';
import { firstKeptDay } from './first-kept-day.ts';
import { forgetRefusals } from './forget-refusals.ts';
import { guardPlace } from './guard-place.ts';
import { holdArchiver } from './hold-archiver.ts';

type Connection = Pick<RedisConnection, 'send'>;

export interface RetainOptions extends Omit<ArchiveDaysOptions, 'untilMs'> {
  readonly connection: Connection;
  /** Refusals were deleted that are older than `keep`. */
  onForgotten(counts: number): void;
}

/** Archives what is older than `keep` and closed, and deletes counts of refusals that are older. */
export async function retainBooks(options: RetainOptions): Promise<void> {
  const { connection, books, keepMs, clock, tempFolder } = options;
  const untilMs = await readUntil(books, connection);
  await holdArchiver(options, async (lease) => {
    const signal = AbortSignal.any([options.signal, lease.signal]);
    const place = guardPlace(options.place, lease.confirm);
    // A run that was killed leaves its files behind.
    await rm(tempFolder, { recursive: true, force: true });
    await archiveOldDays({ ...options, place, untilMs, signal });
    const firstKeptMs = msOfDay(firstKeptDay(Math.min(clock.nowMs(), untilMs), keepMs));
    options.onForgotten(await forgetRefusals(books, firstKeptMs, signal));
  });
}

/** The days that `retainBooks` would archive. */
export async function planRetention({
  books,
  connection,
  keepMs,
  clock,
}: Pick<RetainOptions, 'books' | 'connection' | 'keepMs' | 'clock'>): Promise<DueDay[]> {
  return listDueDays({ books, keepMs, clock, untilMs: await readUntil(books, connection) });
}

/** Throws unless these are the books that all nodes write. */
async function readUntil(books: Books, connection: Connection): Promise<number> {
  const [id, own] = [await connection.send('get', [BOOKS_KEYS.id]), await readIngestion(books)];
  if (id !== null && id !== own.books) {
    throw new Error('the nodes write other books than those of these settings');
  }
  const progress = await readBooksProgress(connection);
  if (id === null || progress === undefined) throw new Error('no node has written these books yet');
  return progress.untilMs;
}
