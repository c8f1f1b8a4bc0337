import { expect, test } from 'vitest';
import { readBooksProgress } from '../../../src/books/stream/books-lease.ts';
import { readIngestion } from '../../../src/books/writing/write-batch.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks } from '../books-scene.ts';
import { createAccount, fillBuckets, pay, serve, streamPlaces } from '../stream-scene.ts';
import { placesInBooks, readEntries, useIngestServer, waitUntilInBooks } from './ingest-scene.ts';

const BUCKETS = [0, 17, 255];
const store = useIngestServer();

describeBooks('the ingester', (scene) => {
  test('takes every entry and payment of every bucket into the books once', async () => {
    const books = await scene.create();
    store.start({ books });
    const places = await fillBuckets(store.connection, BUCKETS);
    await waitUntilInBooks(books, places);
    expect(await placesInBooks(books)).toEqual(places);
    const entries = await readEntries(books);
    expect(entries).toHaveLength(15);
    expect(entries[0]).toMatchObject({ kind: 'charge', charged: 700, cost: 100, output: 200 });
    const totals = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(totals).toHaveLength(3);
    for (const total of totals) {
      expect(total).toMatchObject({ entries: 5, charged: 3_500, paid: 1_000_000_000 });
    }
  });

  test('writes more than a batch in a round', async () => {
    const books = await scene.create();
    const account = await createAccount(store.connection, 1);
    for (let first = 0; first < 1_200; first += 100) {
      const pays = Array.from({ length: 100 }, (_, i) =>
        pay(store.connection, account, { paymentId: `p${first + i}`, micros: 1 }),
      );
      await Promise.all(pays);
    }
    const { version } = await readIngestion(books);
    store.start({ books, pace: { batchEntriesMax: 500, roundMs: 3_600_000 } });
    await waitUntilInBooks(books, await streamPlaces(store.connection, [1]));
    // Pages of 128 entries: batches are never larger than they may be.
    expect((await readIngestion(books)).version).toBeGreaterThanOrEqual(version + 3);
    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ paid: 1_000_000_000 + 1_200 });
  });

  test('leaves young entries alone', async () => {
    const books = await scene.create();
    const { ingester } = store.start({ books, pace: { entryAgeMs: 3_600_000 } });
    await fillBuckets(store.connection, BUCKETS);
    await waitUntil(() => ingester.state().untilMs !== undefined, 'a round is complete');
    const untilMs = ingester.state().untilMs ?? 0;
    await waitUntil(() => (ingester.state().untilMs ?? 0) > untilMs, 'another one is');
    expect(await placesInBooks(books)).toEqual(new Set());
    await ingester.stop();
    store.start({ books });
    await waitUntilInBooks(books, await streamPlaces(store.connection, BUCKETS));
  });

  test('tells every node how far the books are', async () => {
    const books = await scene.create();
    expect(await readBooksProgress(store.connection)).toBeUndefined();
    const places = await fillBuckets(store.connection, BUCKETS);
    const filledMs = Date.now();
    const { ingester } = store.start({ books });
    await waitUntil(async () => {
      const progress = await readBooksProgress(store.connection);
      return (progress?.untilMs ?? 0) > filledMs && progress?.waitingEntries === places.size;
    }, 'the books are that far');
    expect(await placesInBooks(books)).toEqual(places);
    expect(await readBooksProgress(store.connection)).toMatchObject({ nodeId: 'a' });
    await waitUntil(() => ingester.state().isIngesting, 'it says that it ingests');
    expect(ingester.state()).toMatchObject({
      ...{ isIngesting: true, failure: undefined },
      untilMs: expect.any(Number),
    });
    await ingester.stop();
    expect((await readBooksProgress(store.connection))?.nodeId).toBeUndefined();
  });

  test('keeps what it cannot decode, says so, and goes on', async () => {
    const books = await scene.create();
    const { ledger } = keysOfBucket(9);
    await store.connection.send('xadd', [ledger, '*', 'kind', 'of a later version']);
    const account = await createAccount(store.connection, 9);
    await serve(store.connection, account);
    const { log } = store.start({ books });
    await waitUntil(async () => (await readEntries(books)).length === 1, 'the next one is written');
    const damaged = await books.db.selectFrom('damaged').selectAll().execute();
    expect(damaged).toHaveLength(1);
    expect(damaged[0]).toMatchObject({ bucket: 9, fields: expect.any(Buffer) });
    expect(log.lines[0]).toMatchObject({ level: 'error', fields: { bucket: 9, damaged: 1 } });
  });

  test('goes on behind what it has after a start', async () => {
    const books = await scene.create();
    const first = store.start({ books });
    await waitUntilInBooks(books, await fillBuckets(store.connection, BUCKETS));
    await first.ingester.stop();
    const all = await fillBuckets(store.connection, BUCKETS);
    store.start({ books });
    await waitUntilInBooks(books, all);
    expect(await placesInBooks(books)).toEqual(all);
    expect(await books.db.selectFrom('gaps').selectAll().execute()).toEqual([]);
    expect(await books.db.selectFrom('repeats').selectAll().execute()).toEqual([]);
  });
});
