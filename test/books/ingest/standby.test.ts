import { expect, test } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { migrateBooks } from '../../../src/books/engine/migrate-books.ts';
import { startPostgres, startStandby } from '../../support/servers/start-postgres.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createBooksOpener } from '../books-scene.ts';
import { fillBuckets, streamPlaces } from '../stream-scene.ts';
import { placesInBooks, readEntries, useIngestServer, waitUntilInBooks } from './ingest-scene.ts';

const BUCKETS = [0, 17, 255];
const store = useIngestServer();
const cleanUp = useCleanUp();
const open = createBooksOpener(cleanUp);

/** Books whose standby is ready. */
async function startPair() {
  const primary = await startPostgres(cleanUp);
  const url = await primary.createDatabase('books');
  const books = open({ kind: 'postgres', url, connectionsMax: 2 });
  await migrateBooks(books, Date.now());
  const standby = await startStandby(cleanUp, primary);
  await standby.catchUp();
  return { books, standby };
}

async function expectSums(books: Books): Promise<void> {
  const charged = (await readEntries(books)).reduce((sum, entry) => sum + entry.charged, 0);
  const totals = await books.db.selectFrom('account_totals').selectAll().execute();
  expect(totals.reduce((sum, total) => sum + total.charged, 0)).toBe(charged);
  for (const table of ['gaps', 'repeats', 'damaged'] as const) {
    expect(await books.db.selectFrom(table).selectAll().execute()).toEqual([]);
  }
}

test('a standby that takes over without the last batches is given them again, each once', async () => {
  const { books, standby } = await startPair();
  store.start({ books });
  await waitUntilInBooks(books, await fillBuckets(store.connection, BUCKETS));
  await standby.catchUp();
  await standby.stopFollowing();
  await waitUntilInBooks(books, await fillBuckets(store.connection, BUCKETS));
  expect(await standby.takeOver()).toBeGreaterThan(0);
  const all = await fillBuckets(store.connection, BUCKETS);
  await waitUntilInBooks(books, all);
  expect(await placesInBooks(books)).toEqual(all);
  await expectSums(books);
});

test('so is one that takes over while nothing new comes, and without the table of the day', async () => {
  const { books, standby } = await startPair();
  await standby.stopFollowing();
  const all = await fillBuckets(store.connection, BUCKETS);
  const { waitForCalls } = store.start({ books });
  await waitUntilInBooks(books, all);
  await waitUntil(async () => {
    const accounts = await books.db.selectFrom('account_names').select('account').execute();
    return accounts.length === BUCKETS.length;
  }, 'the names are in the books');
  // From now on nothing is asked of the database.
  await waitForCalls(1_500);
  const follower = open({ kind: 'postgres', url: standby.urlOf('books'), connectionsMax: 1 });
  expect(await placesInBooks(follower)).toEqual(new Set());
  await follower.close();
  await standby.takeOver();
  await waitUntilInBooks(books, all);
  expect(await placesInBooks(books)).toEqual(all);
  await expectSums(books);
});

test('what Redis no longer has is noted as a gap, and told', async () => {
  const { books, standby } = await startPair();
  await standby.stopFollowing();
  const { log } = store.start({ books, pace: { keepMs: 0 } });
  await waitUntilInBooks(books, await fillBuckets(store.connection, BUCKETS));
  await waitUntil(
    async () => (await streamPlaces(store.connection, BUCKETS)).size === BUCKETS.length,
    'all but the last entry of each stream have left Redis',
  );
  await standby.takeOver();
  await waitUntil(async () => {
    const gaps = await books.db.selectFrom('gaps').select('bucket').execute();
    return gaps.length === BUCKETS.length;
  }, 'the gaps are noted');
  expect(log.lines.map(({ message }) => message)).toContain(
    'the books lack entries: Redis had trimmed them before they were read',
  );
});
