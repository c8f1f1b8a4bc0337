import { expect, test } from 'vitest';
import { createLagReader } from '../../../src/books/ingest/lag-reader.ts';
import { holdBooksLease, releaseBooksLease } from '../../../src/books/stream/books-lease.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { useIngestServer } from './ingest-scene.ts';

const store = useIngestServer();
const LAG_MS = 90_000;
const MINUTE_MS = 60_000;

/** How far the books were when a node wrote them last. */
async function writeOnce(lagMs: number) {
  const { connection } = store;
  const order = { run: 'a 1', leaseMs: 60_000, booksId: 'books', waitingEntries: 0 };
  const { nowMs } = await holdBooksLease(connection, { ...order, untilMs: undefined });
  await holdBooksLease(connection, { ...order, untilMs: nowMs - lagMs });
  await releaseBooksLease(connection, 'a 1');
}

test('the books are further behind all the time while no node writes them', async () => {
  await writeOnce(LAG_MS);
  const lag = createLagReader(store.connection);
  expect(lag.lagMs()).toBe(undefined);
  await lag.read();
  const first = lag.lagMs() ?? 0;
  expect(first).toBeGreaterThanOrEqual(LAG_MS);
  expect(first).toBeLessThan(LAG_MS + MINUTE_MS);
  await waitUntil(() => (lag.lagMs() ?? 0) > first, 'it grows without being read');
  await lag.read();
  expect(lag.lagMs()).toBeGreaterThan(first);
});

test('how far the books are behind stays known while Redis is out', async () => {
  await writeOnce(LAG_MS);
  let isOut = false;
  const lag = createLagReader({
    async send(command, args) {
      if (isOut) throw new Error('Connection is closed.');
      return await store.connection.send(command, args);
    },
  });
  await lag.read();
  isOut = true;
  await expect(lag.read()).rejects.toThrow('closed');
  expect(lag.lagMs()).toBeGreaterThanOrEqual(LAG_MS);
});

test('nothing is behind where no books were ever written', async () => {
  const lag = createLagReader(store.connection);
  await lag.read();
  expect(lag.lagMs()).toBe(undefined);
});

test('books that are ahead of a new clock of Redis are not behind', async () => {
  await writeOnce(-LAG_MS);
  const lag = createLagReader(store.connection);
  await lag.read();
  expect(lag.lagMs()).toBe(0);
});
