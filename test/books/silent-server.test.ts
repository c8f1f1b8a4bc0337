import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
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
