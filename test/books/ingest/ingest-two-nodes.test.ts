import { expect, test } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { migrateBooks } from '../../../src/books/engine/migrate-books.ts';
import { claimBooks, readBooksProgress } from '../../../src/books/stream/books-lease.ts';
import { isLost } from '../../../src/books/stream/is-lost.ts';
import { readIngestion } from '../../../src/books/writing/write-batch.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import type { CommandArg } from '../../../src/redis/direct-line/command-writer.ts';
import { BOOKS_KEYS } from '../../../src/redis/redis-keys.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { type BooksScene, describeBooks } from '../books-scene.ts';
import { createAccount, fillBuckets, serve, streamPlaces } from '../stream-scene.ts';
import { placesInBooks, readEntries, useIngestServer, waitUntilInBooks } from './ingest-scene.ts';

const BUCKETS = [0, 17, 255];
const store = useIngestServer();

/** As bytes: the usage is packed. */
async function readStream(bucket: number): Promise<{ id: string; fields: Buffer[] }[]> {
  const { ledger } = keysOfBucket(bucket);
  const reply = await store.connection.client.callBuffer('xrange', ledger, '-', '+');
  return (reply as [Buffer, Buffer[]][]).map(([id, fields]) => ({ id: String(id), fields }));
}

/** A writer of libsql would block the thread that the other one needs to go on. */
async function openTwice(scene: BooksScene): Promise<[Books, Books]> {
  const target = await scene.createTarget();
  const books = scene.open(target);
  await migrateBooks(books, Date.now());
  return [books, scene.engine === 'libsql' ? books : scene.open(target)];
}

describeBooks('of several nodes', (scene) => {
  test('one ingests, and another takes over when it stops', async () => {
    const [booksA, booksB] = await openTwice(scene);
    // This process may stand still for a second, and the lease would be over.
    const pace = { leaseMs: 60_000 };
    const a = store.start({ books: booksA, nodeId: 'a', pace });
    await waitUntilInBooks(booksA, await fillBuckets(store.connection, BUCKETS));
    const b = store.start({ books: booksB, nodeId: 'b', pace });
    await waitUntilInBooks(booksA, await fillBuckets(store.connection, BUCKETS));
    await b.waitForCalls(3);
    expect(b.ingester.state()).toMatchObject({ isIngesting: false, failure: undefined });
    await a.ingester.stop();
    const all = await fillBuckets(store.connection, BUCKETS);
    await waitUntilInBooks(booksA, all);
    expect(await placesInBooks(booksA)).toEqual(all);
    // It says so once its database has answered, which may be after others see the entries.
    await waitUntil(() => b.ingester.state().isIngesting, 'the other one ingests');
    expect((await readBooksProgress(store.connection))?.nodeId).toBe('b');
  });

  test('one that takes long for a batch keeps the lease', async () => {
    const [booksA, booksB] = await openTwice(scene);
    let answer = Promise.resolve();
    let renewals = 0;
    const connection = {
      client: store.connection.client,
      isCluster: false,
      send: async (command: string, args: readonly CommandArg[]) => {
        if (args[2] === BOOKS_KEYS.lease) renewals += 1;
        else await answer;
        return await store.connection.send(command, args);
      },
    };
    // This process may stand still for a second, and the lease would be over.
    const pace = { leaseMs: 6_000 };
    const a = store.start({ books: booksA, nodeId: 'a', connection, pace });
    await waitUntil(() => a.ingester.state().isIngesting, 'it ingests');
    let goOn = () => {};
    answer = new Promise((resolve) => {
      goOn = resolve;
    });
    const b = store.start({ books: booksB, nodeId: 'b', pace });
    const before = renewals;
    await waitUntil(() => renewals > before + 3, 'it renews its lease meanwhile');
    await b.waitForCalls(3);
    const { isIngesting } = a.ingester.state();
    const progress = await readBooksProgress(store.connection);
    goOn();
    expect([isIngesting, progress?.nodeId]).toEqual([true, 'a']);
    await waitUntilInBooks(booksA, await fillBuckets(store.connection, BUCKETS));
  });

  test('of two with a copied data folder one ingests', async () => {
    const [booksA, booksB] = await openTwice(scene);
    const pace = { leaseMs: 60_000 };
    const a = store.start({ books: booksA, nodeId: 'a', pace });
    await waitUntil(() => a.ingester.state().isIngesting, 'one ingests');
    const twin = store.start({ books: booksB, nodeId: 'a', pace });
    await waitUntilInBooks(booksA, await fillBuckets(store.connection, BUCKETS));
    await twin.waitForCalls(3);
    expect(twin.ingester.state()).toMatchObject({ isIngesting: false, failure: undefined });
    await twin.ingester.stop();
    await a.waitForCalls(3);
    expect(a.ingester.state().isIngesting).toBe(true);
    expect((await readBooksProgress(store.connection))?.nodeId).toBe('a');
  });

  test('the lease of one that died ends in time, though the clock of Redis was set back', async () => {
    const books = await scene.create();
    await store.connection.send('set', [BOOKS_KEYS.lease, 'dead 1', 'px', 3_600_000]);
    const { ingester } = store.start({ books, nodeId: 'a', pace: { leaseMs: 300 } });
    await waitUntil(() => ingester.state().isIngesting, 'it takes over');
  });

  test('two that both think they hold the lease write each entry once', async () => {
    const [booksA, booksB] = await openTwice(scene);
    // Each of them takes the lease, whoever holds it.
    const connection = {
      client: store.connection.client,
      isCluster: false,
      send: async (command: string, args: readonly CommandArg[]) => {
        const isLease = command.startsWith('eval') && args[2] === BOOKS_KEYS.lease;
        if (isLease) await store.connection.send('del', [BOOKS_KEYS.lease]);
        return await store.connection.send(command, args);
      },
    };
    const a = store.start({ books: booksA, nodeId: 'a', connection });
    const b = store.start({ books: booksB, nodeId: 'b', connection });
    const account = await createAccount(store.connection, 17);
    for (let i = 0; i < 200; i++) await serve(store.connection, account);
    await waitUntilInBooks(booksA, await streamPlaces(store.connection, [17]));
    for (const { ingester } of [a, b]) {
      await waitUntil(() => ingester.state().isIngesting, 'it thinks that it holds the lease');
    }
    expect(await readEntries(booksA)).toHaveLength(200);
    const [total] = await booksA.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ entries: 200, charged: 200 * 700 });
    expect(await booksA.db.selectFrom('repeats').selectAll().execute()).toEqual([]);
  });

  test('one that has other books writes nothing until these are claimed', async () => {
    const [booksA, booksB] = [await scene.create(), await scene.create()];
    const a = store.start({ books: booksA, nodeId: 'a' });
    await waitUntilInBooks(booksA, await fillBuckets(store.connection, BUCKETS));
    await a.ingester.stop();
    const b = store.start({ books: booksB, nodeId: 'b' });
    await waitUntil(() => b.ingester.state().failure !== undefined, 'it says so');
    const all = await fillBuckets(store.connection, BUCKETS);
    await b.waitForCalls(3);
    expect(await placesInBooks(booksB)).toEqual(new Set());
    expect(b.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    await claimBooks(store.connection, (await readIngestion(booksB)).books);
    await waitUntilInBooks(booksB, all);
    await waitUntil(() => b.ingester.state().failure === undefined, 'it is well');
    const late = store.start({ books: booksA, nodeId: 'a' });
    await waitUntil(() => late.ingester.state().failure !== undefined, 'the other one stops');
  });
});

describeBooks('after a failover', (scene) => {
  test('entries with ids below the last one are read once that is noted', async () => {
    const books = await scene.create();
    const { ingester } = store.start({ books });
    const account = await createAccount(store.connection, 17);
    await serve(store.connection, account);
    await waitUntilInBooks(books, await streamPlaces(store.connection, [17]));
    const { ledger } = keysOfBucket(17);
    const [topup, charge] = await readStream(17);
    if (topup === undefined || charge === undefined) throw new Error('there are two entries');
    // As if the charge had been lost and came back from a clock that is a minute behind.
    await store.connection.send('del', [ledger]);
    const early = Number(topup.id.split('-')[0]) - 60_000;
    await store.connection.send('xadd', [ledger, `${early}-7`, ...topup.fields]);
    await store.connection.send('xadd', [ledger, `${early + 5}-0`, ...charge.fields]);
    ingester.noteMasterChange();
    await waitUntil(async () => {
      return (await readEntries(books)).some(({ ms }) => ms === early + 5);
    }, 'the entry has its new place');
    expect(await readEntries(books)).toHaveLength(1);
    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ entries: 1, charged: 700, paid: 1_000_000_000 });
    expect(await books.db.selectFrom('repeats').selectAll().execute()).toMatchObject([
      { fate: 'replaced', kind: 'charge' },
    ]);
    expect(await books.db.selectFrom('gaps').selectAll().execute()).toEqual([]);
  });

  test('entries that came back at each other’s places count once', async () => {
    const books = await scene.create();
    const first = store.start({ books });
    const account = await createAccount(store.connection, 17);
    for (let i = 0; i < 4; i++) await serve(store.connection, account, 100 + i);
    await waitUntilInBooks(books, await streamPlaces(store.connection, [17]));
    await first.ingester.stop();
    const before = await readEntries(books);
    const { ledger } = keysOfBucket(17);
    const stream = await readStream(17);
    const ids = stream.map(({ id }) => id);
    const [topup, ...charges] = stream.map(({ fields }) => fields);
    await store.connection.send('del', [ledger]);
    for (const [i, fields] of [topup, ...charges.reverse()].entries()) {
      await store.connection.send('xadd', [ledger, ids[i] ?? '', ...(fields ?? [])]);
    }
    store.start({ books });
    const last = String(stream.at(-1)?.fields[1]).split('|').at(-1);
    await waitUntil(async () => {
      const entries = await readEntries(books);
      return entries.some(({ ms, seq, request }) => request === last && `${ms}-${seq}` === ids[1]);
    }, 'the last one is the first');
    const after = await readEntries(books);
    expect(new Set(after.map(({ request }) => request))).toEqual(
      new Set(before.map(({ request }) => request)),
    );
    expect(after).toHaveLength(4);
    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ entries: 4, charged: 406 });
  });

  test('an entry is lost where Redis has nothing or another one, unless it was trimmed', async () => {
    const books = await scene.create();
    store.start({ books });
    const account = await createAccount(store.connection, 17);
    for (let i = 0; i < 3; i++) await serve(store.connection, account);
    await waitUntilInBooks(books, await streamPlaces(store.connection, [17]));
    const [first, second, third] = await readEntries(books);
    if (first === undefined || second === undefined || third === undefined) throw new Error();
    const { ledger } = keysOfBucket(17);
    const ask = (entry: typeof first) => isLost(store.connection, entry);
    expect(await ask(second)).toBe(false);
    expect(await ask({ ...second, request: 'another' })).toBe(true);
    await store.connection.send('xdel', [ledger, `${third.ms}-${third.seq}`]);
    expect(await ask(third)).toBe(true);
    await store.connection.send('xtrim', [ledger, 'MINID', `${second.ms}-${second.seq}`]);
    expect(await ask(first)).toBe(false);
  });
});
