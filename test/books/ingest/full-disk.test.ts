import { chmodSync, chownSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { migrateBooks } from '../../../src/books/engine/migrate-books.ts';
import {
  fillDiskWith,
  mayMount,
  mountDisk,
  SMALL_DISK_MB,
} from '../../faults/support/small-disk.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { startPostgres } from '../../support/servers/start-postgres.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createBooksOpener } from '../books-scene.ts';
import { createAccount, fillBuckets, serve, streamPlaces } from '../stream-scene.ts';
import { readEntries, useIngestServer, waitUntilInBooks } from './ingest-scene.ts';

const BUCKETS = [0, 17, 255];
const REQUESTS = 300;
const CHARGE = 700;
const store = useIngestServer();
const cleanUp = useCleanUp();
const open = createBooksOpener(cleanUp);

/** Books whose tables are on a small disk of their own. */
async function createOnSmallDisk(disk: string): Promise<Books> {
  const server = await startPostgres(cleanUp);
  const { uid, gid } = statSync(server.socketFolder);
  chownSync(disk, uid, gid);
  chmodSync(dirname(disk), 0o711);
  const url = await server.createDatabase('books');
  const target = { kind: 'postgres', url, connectionsMax: 2 } as const;
  const { db, close } = open(target);
  await sql.raw(`create tablespace small location '${disk}'`).execute(db);
  await sql.raw('alter database books set default_tablespace = small').execute(db);
  await close();
  const books = open(target);
  await migrateBooks(books, Date.now());
  return books;
}

test('a full disk of Postgres loses nothing, and is caught up with when it has room', async ({
  skip,
}) => {
  const disk = join(createTempDir(cleanUp), 'disk');
  skip(!mayMount(disk), 'disks cannot be mounted here');
  cleanUp(mountDisk(disk, SMALL_DISK_MB));
  const books = await createOnSmallDisk(disk);
  const { ingester, log } = store.start({ books, pace: { keepMs: 0, restMs: 50 } });
  await waitUntilInBooks(books, await fillBuckets(store.connection, BUCKETS));
  const filler = join(disk, 'filler');
  fillDiskWith(filler);

  const account = await createAccount(store.connection, 17);
  let served = 0;
  // The pages that the tables have already take some rows.
  await waitUntil(async () => {
    for (let i = 0; i < REQUESTS; i++) await serve(store.connection, account, CHARGE);
    served += REQUESTS;
    return ingester.state().failure !== undefined;
  }, 'the disk is full');
  expect(ingester.state().failure).toBe('the database of the books cannot be written');
  const waiting = await streamPlaces(store.connection, BUCKETS);
  expect(waiting.size).toBeGreaterThan(0);

  rmSync(filler);
  await waitUntilInBooks(books, waiting);
  await waitUntil(() => ingester.state().failure === undefined, 'it is well again');
  expect(await books.db.selectFrom('damaged').selectAll().execute()).toEqual([]);
  const [total] = await books.db
    .selectFrom('account_totals')
    .selectAll()
    .where('account', '=', account.id)
    .execute();
  expect(total).toMatchObject({ entries: served, charged: served * CHARGE });
  const entries = await readEntries(books);
  expect(entries.filter((entry) => entry.account === account.id)).toHaveLength(served);
  expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
});
