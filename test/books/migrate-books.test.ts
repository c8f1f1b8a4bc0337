import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { isLockTimeout, migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { startPostgres } from '../support/servers/start-postgres.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { createBooksOpener } from './books-scene.ts';

const cleanUp = useCleanUp();

it('gives up soon while a table is in use, so that others need not wait behind it', async () => {
  const server = await startPostgres(cleanUp);
  const url = await server.createDatabase('books');
  const books = createBooksOpener(cleanUp)({ kind: 'postgres', url, connectionsMax: 2 });
  await migrateBooks(books, Date.now());
  // As the version before leaves them.
  await sql`alter table days drop column indexes`.execute(books.db);
  await sql`drop table doubtful`.execute(books.db);
  await books.db.deleteFrom('migrations').where('number', '=', 4).execute();

  await books.db.transaction().execute(async (dump) => {
    await dump.selectFrom('days').select('day').execute();
    const error = await migrateBooks(books, Date.now()).catch((error: unknown) => error);
    expect(isLockTimeout(error)).toBe(true);
  });
  await migrateBooks(books, Date.now());
  expect(await books.db.selectFrom('days').select('indexes').execute()).toEqual([]);
});
