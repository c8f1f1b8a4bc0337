import { expect, test } from 'vitest';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import {
  NO_AUTH,
  openConnection,
  tcp,
  waitForRedis,
} from '../../support/servers/redis-connection.ts';
import { startRedisServer } from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks } from '../books-scene.ts';
import { createAccount, fillBuckets, serve, streamPlaces } from '../stream-scene.ts';
import { placesInBooks, useIngestServer, waitUntilInBooks } from './ingest-scene.ts';

const BUCKETS = [0, 17, 255];
const store = useIngestServer();

/** Some entries that are an hour old. */
async function fillOldStream(bucket: number): Promise<void> {
  const { ledger } = keysOfBucket(bucket);
  await fillBuckets(store.connection, [bucket]);
  const { client } = store.connection;
  const entries = (await client.callBuffer('xrange', ledger, '-', '+')) as [Buffer, Buffer[]][];
  await client.call('del', ledger);
  for (const [id, fields] of entries) {
    const [ms, seq] = String(id).split('-');
    await client.call('xadd', ledger, `${Number(ms) - 3_600_000}-${seq}`, ...fields);
  }
}

describeBooks('trimming', (scene) => {
  test('removes what is in the books and old enough, and nothing else', async () => {
    const books = await scene.create();
    const places = await fillBuckets(store.connection, BUCKETS);
    const first = store.start({ books, pace: { keepMs: 600_000 } });
    await waitUntilInBooks(books, places);
    await first.waitForCalls(3 * 256);
    expect(await streamPlaces(store.connection, BUCKETS)).toEqual(places);
    await first.ingester.stop();
    store.start({ books, pace: { keepMs: 0 } });
    await waitUntil(
      async () => (await streamPlaces(store.connection, BUCKETS)).size === BUCKETS.length,
      'the streams are trimmed',
    );
    expect(await placesInBooks(books)).toEqual(places);
    expect(await books.db.selectFrom('gaps').selectAll().execute()).toEqual([]);
  });

  test('stops at what is in the books, however old the rest is', async () => {
    const books = await scene.create();
    for (const bucket of BUCKETS) await fillOldStream(bucket);
    const old = await streamPlaces(store.connection, BUCKETS);
    const all = await fillBuckets(store.connection, BUCKETS);
    // It reads nothing that is younger than half an hour.
    const pace = { keepMs: 0, entryAgeMs: 1_800_000 };
    const { waitForCalls } = store.start({ books, pace });
    await waitUntilInBooks(books, old);
    const listLeft = () => streamPlaces(store.connection, BUCKETS);
    const isTrimmed = async () =>
      [...(await listLeft())].filter((place) => old.has(place)).length <= BUCKETS.length;
    await waitUntil(isTrimmed, 'what is in the books is trimmed, but for the last', 30_000);
    await waitForCalls(3 * 256);
    const left = await listLeft();
    for (const place of all) if (!old.has(place)) expect(left).toContain(place);
    expect(await placesInBooks(books)).toEqual(old);
  });

  test('waits where Redis has lost what is in the books', async () => {
    const books = await scene.create();
    const buckets = [17, 18];
    for (const bucket of buckets) await fillOldStream(bucket);
    const before = await streamPlaces(store.connection, buckets);
    const first = store.start({ books });
    await waitUntilInBooks(books, before);
    await first.ingester.stop();
    const lost = [...(await streamPlaces(store.connection, [17]))].at(-1)?.split(' ')[1] ?? '';
    await store.connection.send('xdel', [keysOfBucket(17).ledger, lost]);
    const left = await fillBuckets(store.connection, [17]);

    const { waitForCalls } = store.start({ books, pace: { keepMs: 600_000 } });
    await waitUntilInBooks(books, left);
    await waitUntil(
      async () => (await streamPlaces(store.connection, [18])).size === 1,
      'the other stream is trimmed',
    );
    await waitForCalls(3 * 256);
    expect(await streamPlaces(store.connection, [17])).toEqual(left);
  });

  test('goes on some time after a loss, whatever comes behind it', async () => {
    const books = await scene.create();
    await fillOldStream(17);
    const before = await streamPlaces(store.connection, [17]);
    const first = store.start({ books });
    await waitUntilInBooks(books, before);
    await first.ingester.stop();
    const lost = [...before].at(-1)?.split(' ')[1] ?? '';
    await store.connection.send('xdel', [keysOfBucket(17).ledger, lost]);
    store.start({ books, pace: { keepMs: 100 } });
    await waitUntil(
      async () => (await streamPlaces(store.connection, [17])).size === 1,
      'the stream is trimmed',
    );
  });

  test('by others leaves a gap, which is noted once', async () => {
    const books = await scene.create();
    const account = await createAccount(store.connection, 17);
    for (let i = 0; i < 5; i++) await serve(store.connection, account);
    const { ledger } = keysOfBucket(17);
    await store.connection.send('xtrim', [ledger, 'MAXLEN', '2']);
    const left = await streamPlaces(store.connection, [17]);
    const first = store.start({ books });
    await waitUntilInBooks(books, left);
    await first.ingester.stop();
    const gaps = await books.db.selectFrom('gaps').selectAll().execute();
    expect(gaps).toMatchObject([{ bucket: 17, after: '0-0' }]);
    expect(first.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    const second = store.start({ books });
    await serve(store.connection, account);
    await waitUntilInBooks(books, await streamPlaces(store.connection, [17]));
    expect(await books.db.selectFrom('gaps').selectAll().execute()).toEqual(gaps);
    expect(second.log.lines).toEqual([]);
  });

  test('of a whole stream by others is a gap too', async () => {
    const books = await scene.create();
    const account = await createAccount(store.connection, 17);
    await serve(store.connection, account);
    await store.connection.send('xtrim', [keysOfBucket(17).ledger, 'MAXLEN', '0']);
    const { ingester, log } = store.start({ books });
    const readGaps = () => books.db.selectFrom('gaps').selectAll().execute();
    await waitUntil(async () => (await readGaps()).length > 0, 'the gap is noted');
    await ingester.stop();
    expect(await readGaps()).toMatchObject([{ bucket: 17, after: '0-0' }]);
    expect(log.lines).toMatchObject([{ level: 'error' }]);
  });

  test('works on a Cluster as elsewhere', async () => {
    const network = [
      ...['--cluster-port', `${await findFreePort()}`, '--cluster-announce-ip', '127.0.0.1'],
    ];
    const server = await startRedisServer({ args: ['--cluster-enabled', 'yes', ...network] });
    await server.cli('cluster', 'addslotsrange', '0', '16383');
    const nodes = [tcp(server.port)];
    const connection = openConnection({ topology: 'cluster', nodes, tls: false, auth: NO_AUTH });
    await waitForRedis(connection);
    const places = await fillBuckets(connection, BUCKETS);
    const books = await scene.create();
    const { ingester } = store.start({ books, connection, pace: { keepMs: 0 } });
    await waitUntilInBooks(books, places);
    await waitUntil(
      async () => (await streamPlaces(connection, BUCKETS)).size === BUCKETS.length,
      'the streams are trimmed',
    );
    await ingester.stop();
    expect(await placesInBooks(books)).toEqual(places);
  });
});
