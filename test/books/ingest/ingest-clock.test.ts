import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../../support/servers/redis-connection.ts';
import { type ClockedRedis, startClockedRedis } from '../../support/servers/start-clocked-redis.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks } from '../books-scene.ts';
import { createAccount, fillBuckets, serve, streamPlaces } from '../stream-scene.ts';
import { placesInBooks, useIngestServer, waitUntilInBooks } from './ingest-scene.ts';

const BUCKETS = [0, 17, 255];
const AHEAD_SECONDS = 7_200;
/** Its server runs by the true clock; what it starts ends with each test. */
const store = useIngestServer();
let redis: ClockedRedis;
let connection: TestConnection;

beforeAll(async () => {
  redis = await startClockedRedis([]);
  connection = openConnection(standalone(tcp(redis.port)));
  await waitForRedis(connection);
});
afterAll(() => redis.stop());

describeBooks('entries of a clock that ran ahead and was set back', (scene) => {
  /** Entries from both sides of the step, all in the future. Returns their places. */
  const fillAcrossStep = async () => {
    await redis.cli('flushall');
    await redis.setAhead(AHEAD_SECONDS);
    const account = await createAccount(connection, 17);
    await fillBuckets(connection, BUCKETS);
    await redis.setAhead(0);
    for (let i = 0; i < 5; i++) await serve(connection, account);
    return await streamPlaces(connection, BUCKETS);
  };

  test('are in the books before the clock comes to them', async () => {
    const books = await scene.create();
    const places = await fillAcrossStep();
    store.start({ books, connection });
    await waitUntilInBooks(books, places);
    expect(await placesInBooks(books)).toEqual(places);
  });

  test('wait until they were seen some time ago', async () => {
    const books = await scene.create();
    await fillAcrossStep();
    const { waitForCalls } = store.start({ books, connection, pace: { entryAgeMs: 3_600_000 } });
    await waitForCalls(5 * 256);
    expect((await placesInBooks(books)).size).toBe(0);
  });

  test('are trimmed when they were in Redis long enough', async () => {
    const books = await scene.create();
    const places = await fillAcrossStep();
    const first = store.start({ books, connection, pace: { keepMs: 3_600_000 } });
    await waitUntilInBooks(books, places);
    await first.waitForCalls(5 * 256);
    expect(await streamPlaces(connection, BUCKETS)).toEqual(places);
    await first.ingester.stop();
    store.start({ books, connection, pace: { keepMs: 0 } });
    await waitUntil(
      async () => (await streamPlaces(connection, BUCKETS)).size === BUCKETS.length,
      'the streams are trimmed',
    );
    expect(await placesInBooks(books)).toEqual(places);
    expect(await books.db.selectFrom('gaps').selectAll().execute()).toEqual([]);
  });

  test('leave nothing unread if Redis loses them, and goes on below them', async () => {
    const books = await scene.create();
    const before = await fillAcrossStep();
    const first = store.start({ books, connection });
    await waitUntilInBooks(books, before);
    await first.ingester.stop();
    await redis.cli('flushall');
    const after = await fillBuckets(connection, BUCKETS);
    const second = store.start({ books, connection });
    await waitUntilInBooks(books, after);
    await second.ingester.stop();
    // Now above the cursor that was lost, which is no place of this stream.
    await redis.setAhead(2 * AHEAD_SECONDS);
    await fillBuckets(connection, BUCKETS);
    const all = await streamPlaces(connection, BUCKETS);
    store.start({ books, connection });
    await waitUntilInBooks(books, all);
    expect(await placesInBooks(books)).toEqual(new Set([...before, ...all]));
  });

  test('do not keep entries back that Redis wrote below them while nobody read', async () => {
    const books = await scene.create();
    const before = await fillAcrossStep();
    const first = store.start({ books, connection });
    await waitUntilInBooks(books, before);
    await first.ingester.stop();
    await redis.cli('flushall');
    await fillBuckets(connection, BUCKETS);
    await redis.setAhead(2 * AHEAD_SECONDS);
    await fillBuckets(connection, BUCKETS);
    const all = await streamPlaces(connection, BUCKETS);
    store.start({ books, connection });
    await waitUntilInBooks(books, all);
  });
});
