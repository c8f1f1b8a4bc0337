import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import { compareCopies } from '../../../src/books/copy/compare-copies.ts';
import { listCopiedTables } from '../../../src/books/copy/copied-tables.ts';
import { type CopyOptions, copyBooks } from '../../../src/books/copy/copy-books.ts';
import type { Books } from '../../../src/books/engine/books.ts';
import { entriesOf } from '../../../src/books/engine/days.ts';
import { listDays, migrateBooks, openDay } from '../../../src/books/engine/migrate-books.ts';
import { claimBooks } from '../../../src/books/stream/books-lease.ts';
import { verifyBooks } from '../../../src/books/verify/verify-books.ts';
import { readIngestion } from '../../../src/books/writing/write-batch.ts';
import type { BooksTarget } from '../../../src/lib/address/books-target.ts';
import { BOOKS_KEYS } from '../../../src/redis/redis-keys.ts';
import { runHere } from '../../cli/use-cli.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { type PostgresServer, startPostgres } from '../../support/servers/start-postgres.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { entriesOfDay, noteProgress, retain, TODAY } from '../archive/retention-scene.ts';
import { createBooksOpener, makeEntry } from '../books-scene.ts';
import { placesInBooks, useIngestServer, waitUntilInBooks } from '../ingest/ingest-scene.ts';
import { enter } from '../questions/questions-scene.ts';
import { fillBuckets } from '../stream-scene.ts';

const BUCKETS = [0, 17, 255];
const cleanUp = useCleanUp();
const open = createBooksOpener(cleanUp);
const store = useIngestServer();
let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres(cleanUp);
});

async function createPair() {
  const dir = createTempDir();
  const file: BooksTarget = { kind: 'file', dir: join(dir, 'books') };
  const from = open(file);
  await migrateBooks(from, 0);
  const url = await postgres.createDatabase(randomUUID());
  const target: BooksTarget = { kind: 'postgres', url, connectionsMax: 4 };
  const to = open(target);
  await migrateBooks(to, 0);
  return { dir, url, from, to };
}

function copy(from: Books, to: Books, changes: Partial<CopyOptions> = {}) {
  const { signal } = new AbortController();
  return copyBooks({ from, to, signal, onProgress: () => {}, ...changes });
}

async function readAll(books: Books) {
  const days = await listDays(books);
  const tables = listCopiedTables(days).filter(({ name }) => name !== 'facts');
  const found: Record<string, unknown> = {};
  for (const { name, key } of tables) {
    let query = books.db.selectFrom(name).selectAll();
    for (const column of key) query = query.orderBy(column as never);
    found[name] = await query.execute();
  }
  const read = books.db.selectFrom('days').select(['day', 'state', 'archive']).orderBy('day');
  return { ...found, days: await read.execute() };
}

it('copies everything, and ingestion goes on behind it', async () => {
  const { from, to } = await createPair();
  const { connection } = store;
  const first = await fillBuckets(connection, BUCKETS);
  const before = store.start({ books: from, nodeId: 'old' });
  await waitUntilInBooks(from, first);
  await before.ingester.stop();
  // A day of several pages, and one that only the archive has.
  await enter(from, [...entriesOfDay(TODAY - 2, 4_500), ...entriesOfDay(TODAY - 5, 100)]);
  await noteProgress(from, connection);
  await retain({ books: from, connection, place: createFolderPlace(createTempDir()) });
  const all = await readAll(from);

  const report = await copy(from, to);
  expect(report).toMatchObject({ differences: [] });
  expect(await readAll(to)).toEqual(all);
  expect(all.days.map(({ state }) => state)).toContain('dropped');

  const { books: id, cursors } = await readIngestion(to);
  expect(id).toBe(report.books);
  expect(cursors).toEqual((await readIngestion(from)).cursors);
  await claimBooks(connection, id);
  await connection.send('del', [BOOKS_KEYS.lease]);
  const more = await fillBuckets(connection, BUCKETS);
  const after = store.start({ books: to, nodeId: 'new' });
  await waitUntilInBooks(to, more);
  await after.ingester.stop();
  const places = await placesInBooks(to);
  expect([...first].every((place) => places.has(place))).toBe(true);
  const clock = { nowMs: Date.now };
  const verified = await verifyBooks({
    ...{ books: to, connection, clock, isFull: true, onProgress: () => {} },
    signal: new AbortController().signal,
  });
  expect(verified).toMatchObject({ drifts: [], sum_drifts: [], gaps: 0, repeats: 0 });
});

it('goes on where it was ended', async () => {
  const { from, to } = await createPair();
  await enter(from, entriesOfDay(TODAY, 9_000));
  const seen: number[] = [];
  const ending = new AbortController();
  const onProgress = ({ done }: { readonly done: number }) => {
    seen.push(done);
    if (done >= 4_000) ending.abort(new Error('ended'));
  };
  await expect(copy(from, to, { signal: ending.signal, onProgress })).rejects.toThrow('ended');
  expect((await readIngestion(to)).version).toBe(0);
  const resumed: number[] = [];
  await copy(from, to, { onProgress: ({ done }) => resumed.push(done) });
  expect(resumed[0]).toBe(seen.at(-1));
  expect(await readAll(to)).toEqual(await readAll(from));
  const again: number[] = [];
  expect(await copy(from, to, { onProgress: ({ done }) => again.push(done) })).toMatchObject({
    differences: [],
  });
  expect(again).toEqual([]);
});

it('refuses a database that has books, and a file that goes on growing', async () => {
  const { from, to } = await createPair();
  await enter(from, entriesOfDay(TODAY, 10));
  await enter(to, entriesOfDay(TODAY, 1));
  await expect(copy(from, to)).rejects.toThrow('only an empty one');
  const { from: growing, to: empty } = await createPair();
  await enter(growing, entriesOfDay(TODAY, 10));
  let isGrown = false;
  const onProgress = () => {
    if (isGrown) return;
    isGrown = true;
    void enter(growing, entriesOfDay(TODAY - 1, 10));
  };
  await expect(copy(growing, empty, { onProgress })).rejects.toThrow('was written after');
  await expect(copy(growing, empty)).rejects.toThrow('was written after');
  expect((await readIngestion(empty)).version).toBe(0);
});

it('keeps what nodes have refused meanwhile, and tells of sums that differ', async () => {
  const { from, to } = await createPair();
  const day = entriesOfDay(TODAY, 10);
  await enter(from, day);
  await openDay(to, TODAY);
  const refused = makeEntry({ kind: 'refused', bucket: 300, ms: day[0]?.ms ?? 0 });
  await to.db.insertInto(entriesOf(TODAY)).values(refused).execute();
  expect((await copy(from, to)).differences).toEqual([]);
  await to.db.updateTable(entriesOf(TODAY)).set({ charged: 1 }).where('seq', '=', 3).execute();
  expect((await copy(from, to)).differences).toEqual([`${entriesOf(TODAY)}.charged`]);
});

it('compares all rows, some at a time', async () => {
  const { from, to } = await createPair();
  await enter(from, entriesOfDay(TODAY, 25));
  await copy(from, to);
  const compare = async (rowsMax: number) => {
    const { signal } = new AbortController();
    const differences: string[] = [];
    for (const table of listCopiedTables([TODAY])) {
      differences.push(...(await compareCopies({ from, to, signal }, table, rowsMax)));
    }
    return differences;
  };
  for (const rowsMax of [1, 5, 24, 25, 26]) expect(await compare(rowsMax)).toEqual([]);
  const rows = entriesOf(TODAY);
  await to.db.deleteFrom(rows).where('seq', '=', 24).execute();
  await to.db.updateTable(rows).set({ model: 'x' }).where('seq', '=', 0).execute();
  await to.db.updateTable('usage_hours').set({ output: 0 }).execute();
  for (const rowsMax of [1, 5, 24, 25, 26]) {
    expect(await compare(rowsMax)).toEqual(
      expect.arrayContaining([`${rows}.rows`, `${rows}.model`, 'usage_hours.output']),
    );
  }
});

it('runs from the command line, and says what comes next', async () => {
  const { dir, url, from, to } = await createPair();
  await enter(from, entriesOfDay(TODAY, 10));
  const config = join(dir, 'tollgate.yaml');
  const redisUrl = `redis://127.0.0.1:${store.server.port}`;
  const settings = `redis: {url: "${redisUrl}"}\ndata_dir: ${dir}\n`;
  writeFileSync(config, settings);
  const withoutUrl = await runHere({}, 'books', 'copy', '--config', config);
  expect(withoutUrl).toMatchObject({ code: 1, err: expect.stringContaining('books.url') });
  writeFileSync(config, `${settings}books: {url: "${url}?sslmode=disable"}\n`);
  const nowhere = await runHere({}, 'books', 'copy', dir, '--config', config);
  expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining('books.db') });
  const copied = await runHere({}, 'books', 'copy', '--config', config);
  expect(copied).toMatchObject({ code: 0, err: '' });
  expect(copied.out).toContain('tollgate books claim');
  expect((await readAll(to)).days).toMatchObject([{ day: TODAY, state: 'open' }]);
  const again = await runHere({}, 'books', 'copy', '--json', '--config', config);
  expect(JSON.parse(again.out)).toMatchObject({ differences: [] });
  await to.db.updateTable('account_totals').set({ charged: 0 }).execute();
  const wrong = await runHere({}, 'books', 'copy', '--config', config);
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('account_totals.charged') });
});
