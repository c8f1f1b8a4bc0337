import { memoryUsage } from 'node:process';
import type { Books } from '../../src/books/engine/books.ts';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { openBooks } from '../../src/books/engine/open-books.ts';
import { readIngestion, writeBatch } from '../../src/books/writing/write-batch.ts';
import type { BooksTarget } from '../../src/lib/address/books-target.ts';
import { type Fleet, type FleetSize, makeBatches, makeFleet, type Sample } from './make-entries.ts';

const BATCH_ROWS = 1_000;
const ROWS_AT_ONCE = 500;
const SAMPLES = 1_000;
const PARTS = 10;

export interface Filled {
  /** Of writing, without making the rows. */
  readonly seconds: number;
  /** By tenths, to see whether it slows down. */
  readonly rowsPerSecond: readonly number[];
  readonly residentBytesMax: number;
  readonly samples: readonly Sample[];
}

/** Writes all entries as ingestion does, in batches with their rollups and cursors. */
export async function fillBooks(
  target: BooksTarget,
  size: FleetSize,
  onPart: (part: number, rowsPerSecond: number) => void,
): Promise<Filled> {
  const books = openBooks({ target, isReader: false, name: 'bench' });
  try {
    await migrateBooks(books, Date.now());
    const fleet = makeFleet(size);
    await enterNames(books, fleet);
    return await writeAll(books, fleet, size, onPart);
  } finally {
    await books.close();
  }
}

async function writeAll(
  books: Books,
  fleet: Fleet,
  size: FleetSize,
  onPart: (part: number, rowsPerSecond: number) => void,
): Promise<Filled> {
  const context = { isLost: async () => false, nowMs: Date.now() };
  let { version } = await readIngestion(books);
  const cursors = new Map(fleet.accounts.map(({ bucket }) => [bucket, '0-0']));
  const samples: Sample[] = [];
  const sampleEvery = Math.max(1, Math.floor(size.entries / SAMPLES / BATCH_ROWS));
  const rowsPerSecond: number[] = [];
  const partRows = size.entries / PARTS;
  let [batches, rows, writeMs, residentBytesMax] = [0, 0, 0, 0];
  let [partStartMs, partStartRows] = [0, 0];
  let { payments } = fleet;
  for (const entries of makeBatches(fleet, size, BATCH_ROWS)) {
    for (const { bucket, ms, seq } of entries) cursors.set(bucket, `${ms}-${seq}`);
    const batch = { version, cursors, entries, payments, damaged: [], gaps: [] };
    const beforeMs = performance.now();
    await writeBatch(books, batch, context);
    writeMs += performance.now() - beforeMs;
    version += 1;
    payments = [];
    rows += entries.length;
    if (batches++ % sampleEvery === 0) samples.push(...entries.slice(0, 1).map(keepSample));
    residentBytesMax = Math.max(residentBytesMax, memoryUsage.rss());
    if (rows < (rowsPerSecond.length + 1) * partRows) continue;
    const speed = (rows - partStartRows) / ((writeMs - partStartMs) / 1_000);
    rowsPerSecond.push(speed);
    onPart(rowsPerSecond.length, speed);
    [partStartMs, partStartRows] = [writeMs, rows];
  }
  return { seconds: writeMs / 1_000, rowsPerSecond, residentBytesMax, samples };
}

function keepSample({ request, account, key, model }: Sample): Sample {
  return { request, account, key, model };
}

async function enterNames({ db }: Books, { accounts, keys }: Fleet): Promise<void> {
  for (let first = 0; first < accounts.length; first += ROWS_AT_ONCE) {
    const some = accounts.slice(first, first + ROWS_AT_ONCE);
    await db.insertInto('account_names').values(some).execute();
  }
  for (let first = 0; first < keys.length; first += ROWS_AT_ONCE) {
    const some = keys.slice(first, first + ROWS_AT_ONCE);
    await db.insertInto('key_names').values(some).execute();
  }
}
