import { createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { dayOfMs, entriesOf } from '../../../src/books/engine/days.ts';
import { migrateBooks, openDay } from '../../../src/books/engine/migrate-books.ts';
import { openBooks } from '../../../src/books/engine/open-books.ts';
import { BOOKS_KEYS } from '../../../src/redis/redis-keys.ts';
import { startPostgres } from '../../support/servers/start-postgres.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks } from '../books-scene.ts';
import { createAccount, fillBuckets, serve, streamPlaces } from '../stream-scene.ts';
import { placesInBooks, readEntries, useIngestServer, waitUntilInBooks } from './ingest-scene.ts';

const BUCKETS = [0, 17, 255];
const store = useIngestServer();
const cleanUp = useCleanUp();

async function openPostgresBooks() {
  const server = await startPostgres(cleanUp);
  const url = await server.createDatabase('books');
  const target = { kind: 'postgres', url, connectionsMax: 2 } as const;
  const books = openBooks({ target, isReader: false, name: 'test' });
  cleanUp(() => books.close());
  return { server, target, books };
}

test('a node whose database is out gives the lease up and leaves it to others', async () => {
  const { server, books } = await openPostgresBooks();
  await migrateBooks(books, Date.now());
  const { ingester, log } = store.start({ books, pace: { keepMs: 0, restMs: 50 } });
  await waitUntilInBooks(books, await fillBuckets(store.connection, BUCKETS));
  await server.kill('SIGKILL');
  const all = await fillBuckets(store.connection, BUCKETS);
  await waitUntil(() => ingester.state().failure !== undefined, 'it says so');
  await waitUntil(
    async () => (await store.connection.send('get', [BOOKS_KEYS.lease])) === null,
    'the lease is given up',
  );
  expect(ingester.state()).toMatchObject({ isIngesting: false, untilMs: undefined });
  const left = await streamPlaces(store.connection, BUCKETS);
  await server.start();
  await waitUntilInBooks(books, all);
  for (const place of left) expect(all).toContain(place);
  await waitUntil(() => ingester.state().failure === undefined, 'it is well again');
  const levels = log.lines.map(({ level }) => level);
  expect(levels.filter((level) => level === 'error')).toHaveLength(1);
  expect(log.lines.at(-1)?.message).toBe('the books are written again');
});

test('a node whose database does not answer takes the lease again, and does not say that it writes', async () => {
  const { server, books } = await openPostgresBooks();
  const { ingester } = store.start({ books, pace: { leaseMs: 60_000 } });
  await waitUntil(() => ingester.state().isIngesting, 'it writes');
  await server.kill('SIGKILL');
  await waitUntil(() => !ingester.state().isIngesting, 'it notices');
  const silent = createServer().listen(server.port, '127.0.0.1');
  const sockets = new Set<Socket>();
  silent.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  const endSilence = () => {
    silent.close();
    for (const socket of sockets) socket.destroy();
  };
  cleanUp(endSilence);
  await waitUntil(() => sockets.size > 0, 'it asks the database');
  expect(await store.connection.send('get', [BOOKS_KEYS.lease])).toMatch(/^a /);
  expect(ingester.state().isIngesting).toBe(false);
  endSilence();
  await server.start();
  await waitUntil(() => ingester.state().isIngesting, 'it writes again');
});

test('a node that waits for its database does not say that it writes once its lease is over', async () => {
  const { target, books } = await openPostgresBooks();
  const { ingester } = store.start({ books, pace: { leaseMs: 100, renewedMsMax: 200 } });
  await waitUntil(() => ingester.state().isIngesting, 'it writes');
  const other = openBooks({ target, isReader: false, name: 'other' });
  cleanUp(() => other.close());
  await other.db.transaction().execute(async (tx) => {
    await sql.raw('lock table ingestion').execute(tx);
    await fillBuckets(store.connection, BUCKETS);
    await waitUntil(() => !ingester.state().isIngesting, 'it does not say so any more');
    expect(ingester.state().failure).toBe(undefined);
  });
  await waitUntil(() => ingester.state().isIngesting, 'it writes again');
});

describeBooks('an ingester', (scene) => {
  test('waits while Redis is out, and goes on', async () => {
    const books = await scene.create();
    const account = await createAccount(store.connection, 17);
    await serve(store.connection, account);
    let isOut = false;
    const connection = {
      client: store.connection.client,
      isCluster: false,
      send: async (...call: Parameters<typeof store.connection.send>) => {
        if (isOut) throw new Error('Connection is closed.');
        return await store.connection.send(...call);
      },
    };
    const { ingester, log } = store.start({ books, connection });
    await waitUntilInBooks(books, await streamPlaces(store.connection, [17]));
    isOut = true;
    await waitUntil(() => ingester.state().failure !== undefined, 'it says so');
    expect(ingester.state().isIngesting).toBe(false);
    await serve(store.connection, account);
    isOut = false;
    const all = await streamPlaces(store.connection, [17]);
    await waitUntilInBooks(books, all);
    expect(await placesInBooks(books)).toEqual(all);
    await waitUntil(() => ingester.state().failure === undefined, 'it is well again');
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  test('sets an entry aside that the database refuses, and writes the others', async () => {
    const books = await scene.create();
    const day = dayOfMs(Date.now());
    await openDay(books, day);
    const refusal = {
      libsql: `create trigger t before insert on ${entriesOf(day)} when new.charged = 777
               begin select raise(abort, 'refused'); end`,
      postgres: `alter table ${entriesOf(day)} add check (charged <> 777)`,
    };
    await sql.raw(refusal[scene.engine]).execute(books.db);
    const account = await createAccount(store.connection, 17);
    for (let i = 0; i < 20; i++) await serve(store.connection, account, i === 7 ? 777 : 5);
    const { log } = store.start({ books });
    await waitUntil(async () => (await readEntries(books)).length === 19, 'the others are there');
    const [damaged, ...more] = await books.db.selectFrom('damaged').selectAll().execute();
    expect(more).toEqual([]);
    expect(damaged).toMatchObject({ bucket: 17 });
    expect(String(damaged?.fields)).toContain('|777|');
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ entries: 19, charged: 95 });
  });
});
