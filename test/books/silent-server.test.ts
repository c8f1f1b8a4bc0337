import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { readIngestion, writeBatch } from '../../src/books/writing/write-batch.ts';
import { createDeferred } from '../../src/lib/time/deferred.ts';
import { startPostgres } from '../support/servers/start-postgres.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { createBooksOpener } from './books-scene.ts';

const cleanUp = useCleanUp();

/** A way to a server that can swallow what its connections say, as a network does. */
async function startSwallower(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const onward = connect(port, '127.0.0.1');
    for (const socket of [client, onward]) sockets.add(socket.on('error', () => {}));
    client.pipe(onward).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    /** Of all that are open by now. */
    swallow() {
      for (const socket of sockets) socket.unpipe().on('data', () => {});
    },
  };
}

it('does not wait again at a connection that has left a query without an answer', async () => {
  const server = await startPostgres(cleanUp);
  const way = await startSwallower(server.port);
  const books = createBooksOpener(cleanUp)({
    kind: 'postgres',
    // The client takes this before any other bound of a query.
    url: `postgres://postgres@127.0.0.1:${way.port}/postgres?query_timeout=5000`,
    connectionsMax: 1,
  });
  const ask = () => sql<{ one: number }>`select 1 as one`.execute(books.db);
  expect((await ask()).rows).toEqual([{ one: 1 }]);
  way.swallow();
  await expect(ask()).rejects.toThrow('timeout');
  expect((await ask()).rows).toEqual([{ one: 1 }]);
  way.swallow();
  const began = books.db.transaction().execute((tx) => sql`select 1`.execute(tx));
  await expect(began).rejects.toThrow();
  expect((await ask()).rows).toEqual([{ one: 1 }]);
});

it('gets a row soon that a machine has locked which is gone', async () => {
  const server = await startPostgres(cleanUp);
  const way = await startSwallower(server.port);
  const open = createBooksOpener(cleanUp);
  const books = open({ kind: 'postgres', url: server.url, connectionsMax: 1 });
  await migrateBooks(books, Date.now());
  const url = `postgres://postgres@127.0.0.1:${way.port}/postgres`;
  const fast = `${url}?idle_in_transaction_session_timeout=500&query_timeout=5000`;
  const gone = open({ kind: 'postgres', url: fast, connectionsMax: 1 });
  const locked = createDeferred();
  const asked = gone.db.transaction().execute(async (tx) => {
    await tx.updateTable('ingestion').set({ version: 7 }).execute();
    way.swallow();
    locked.resolve();
    await readIngestion({ db: tx });
  });
  await locked.promise;
  const rest = { cursors: new Map(), entries: [], payments: [], damaged: [], gaps: [] };
  await writeBatch(books, { ...rest, version: 0 }, { isLost: async () => false, nowMs: 0 });
  expect(await readIngestion(books)).toMatchObject({ version: 1 });
  await expect(asked).rejects.toThrow();
});

it('lets the server find out within half a minute that a machine is gone', async () => {
  const server = await startPostgres(cleanUp);
  const open = createBooksOpener(cleanUp);
  const target = { kind: 'postgres', url: server.url, connectionsMax: 1 } as const;
  for (const isReader of [false, true]) {
    const { rows } = await sql<Record<string, string>>`
      select current_setting('idle_in_transaction_session_timeout') as transaction_rest,
        current_setting('tcp_keepalives_idle') as idle,
        current_setting('tcp_keepalives_interval') as interval,
        current_setting('tcp_keepalives_count') as count,
        current_setting('tcp_user_timeout') as unconfirmed,
        current_setting('default_transaction_read_only') as read_only
      `.execute(open(target, isReader).db);
    expect(rows).toEqual([
      {
        ...{ transaction_rest: '30s', idle: '10', interval: '5', count: '4', unconfirmed: '30000' },
        read_only: isReader ? 'on' : 'off',
      },
    ]);
  }
});
