import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Books } from '../../src/books/engine/books.ts';
import { entriesOf } from '../../src/books/engine/days.ts';
import { listDays, migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { openBooks } from '../../src/books/engine/open-books.ts';
import { readIngestion, writeBatch } from '../../src/books/writing/write-batch.ts';
import type { BooksTarget } from '../../src/lib/address/books-target.ts';
import { makeEntry } from '../books/books-scene.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { startPostgres } from '../support/servers/start-postgres.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readSection } from './read-deploy-files.ts';

const cleanUp = useCleanUp();
const run = promisify(execFile);
const BATCH = 20;

/** The commands of deploy/README.md that have this word in them. */
function commandsWith(word: string): string {
  const blocks = [...readSection('Backup and restore').matchAll(/```sh\n([\s\S]*?)```/g)];
  const lines = blocks.flatMap(([, block = '']) => block.split('\n'));
  const found = lines.filter((line) => line.startsWith(word));
  if (found.length === 0) throw new Error(`deploy/README.md does not call ${word}`);
  return found.join('\n');
}

const runCommands = (word: string, variables: Readonly<Record<string, string>>) =>
  run('bash', ['-euo', 'pipefail', '-c', commandsWith(word)], {
    env: { PATH: process.env['PATH'], ...variables },
  });

function open(target: BooksTarget): Books {
  const books = openBooks({ target, isReader: false, name: 'test' });
  cleanUp(() => books.close());
  return books;
}

/** Writes batches until it is told to end. */
async function keepWriting(target: BooksTarget) {
  const books = open(target);
  await migrateBooks(books, Date.now());
  const { books: id } = await readIngestion(books);
  let version = 0;
  let isEnding = false;
  const writing = (async () => {
    while (!isEnding) {
      const entries = Array.from({ length: BATCH }, (_, n) =>
        makeEntry({ seq: version * BATCH + n }),
      );
      const batch = { version, cursors: new Map(), entries, payments: [], damaged: [], gaps: [] };
      await writeBatch(books, batch, { isLost: async () => false, nowMs: Date.now() });
      version += 1;
      // libsql blocks: without a pause nothing else would run.
      await setImmediate();
    }
  })();
  return {
    id,
    waitForMore: async () => {
      const before = version;
      await waitUntil(() => version > before + 2, 'more is written');
    },
    async end() {
      isEnding = true;
      await writing;
    },
  };
}

/** Entries, their sums and the version belong to one moment, and writing goes on from there. */
async function expectWhole(target: BooksTarget, id: string): Promise<void> {
  const books = open(target);
  const state = await readIngestion(books);
  expect(state.books).toBe(id);
  expect(state.version).toBeGreaterThan(2);
  const [day = 0] = await listDays(books);
  const [counted] = await books.db
    .selectFrom(entriesOf(day))
    .select(sql<number>`count(*)`.as('rows'))
    .execute();
  const total = await books.db.selectFrom('account_totals').selectAll().executeTakeFirst();
  expect(counted?.rows).toBe(state.version * BATCH);
  expect(total?.entries).toBe(counted?.rows);
  const entries = [makeEntry({ seq: 1e9 })];
  const rest = { cursors: new Map(), payments: [], damaged: [], gaps: [] };
  const context = { isLost: async () => false, nowMs: Date.now() };
  const entered = await writeBatch(books, { version: state.version, entries, ...rest }, context);
  expect(entered.entries).toBe(1);
}

describe('a backup of the books', () => {
  it('in Postgres is whole although nodes write, and restored they go on', async () => {
    const server = await startPostgres(cleanUp);
    const target = { kind: 'postgres', connectionsMax: 2 } as const;
    const url = await server.createDatabase('tollgate');
    const writer = await keepWriting({ ...target, url });
    await writer.waitForMore();
    const backup = createTempDir();
    await runCommands('pg_dump', { BACKUP: backup, BOOKS_URL: url });
    await writer.waitForMore();
    await writer.end();
    const again = await server.createDatabase('again');
    await runCommands('pg_restore', { BACKUP: backup, BOOKS_URL: again });
    await expectWhole({ ...target, url: again }, writer.id);
  });

  it('in a file is whole although the node writes, and restored they go on', async () => {
    const dir = createTempDir();
    const backup = join(createTempDir(), 'books');
    mkdirSync(backup);
    const writer = await keepWriting({ kind: 'file', dir: join(dir, 'books') });
    await writer.waitForMore();
    await runCommands('sqlite3', { BACKUP: backup, DATA_DIR: dir });
    await writer.waitForMore();
    await writer.end();
    rmSync(dir, { recursive: true });
    await expectWhole({ kind: 'file', dir: backup }, writer.id);
  });
});
