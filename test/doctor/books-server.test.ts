import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { MIGRATIONS } from '../../src/books/engine/migrations.ts';
import { openBooks } from '../../src/books/engine/open-books.ts';
import { readIngestion } from '../../src/books/writing/write-batch.ts';
import { BOOKS_KEYS } from '../../src/redis/redis-keys.ts';
import { type PostgresServer, startPostgres } from '../support/servers/start-postgres.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { examine, problem } from './examine.ts';

const cleanUp = useCleanUp();
let server: PostgresServer;
let databases = 0;

beforeAll(async () => {
  server = await startPostgres(cleanUp, ['-c', 'fsync=on']);
});
afterAll(stopRedisServers);

const examineBooks = (url: string, more: Parameters<typeof examine>[0] = {}) =>
  examine({ ...more, settings: `books: {url: '${url}'}` });

const createDatabase = () => server.createDatabase(`books_${++databases}`);

async function ask(url: string, text: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Creates a database with the tables of books, which belong to the superuser. */
async function createBooks(): Promise<{ readonly url: string; readonly id: string }> {
  const url = await createDatabase();
  const target = { kind: 'postgres', url, connectionsMax: 2 } as const;
  const books = openBooks({ target, isReader: false, name: 'test' });
  try {
    await migrateBooks(books, Date.now());
    return { url, id: (await readIngestion(books)).books };
  } finally {
    await books.close();
  }
}

const asUser = (url: string, user: string) => url.replace('//postgres@', `//${user}@`);

describe('the doctor and a server of the books', () => {
  it('finds nothing wrong with an empty database, and leaves nothing behind', async () => {
    const url = await createDatabase();
    const find = await examineBooks(url);
    for (const [name, found] of [
      ['books-reachable', `postgres at 127.0.0.1:${server.port}/books_${databases}`],
      ['books-latency', expect.stringMatching(/^\d+\.\d\d ms$/)],
      ['books-version', expect.stringMatching(/^Postgres \d/)],
      ['books-rights', 'tables can be made, and all can be written'],
      ['books-persistence', 'each commit is on the disk'],
      ['books-schema', 'there are no tables yet; the first node makes them'],
      ['books-clock', 'they agree within 1 s'],
      ['books-space', expect.stringContaining('MiB')],
    ] as const) {
      expect(find(name), name).toEqual({ state: 'ok', found });
    }
    expect(await ask(url, "select 1 from pg_tables where schemaname = 'public'")).toEqual([]);
  });

  it('says what is wrong when nobody answers, and when there is no such database', async () => {
    const find = await examineBooks('postgres://postgres@127.0.0.1:1/tollgate');
    expect(find('books-reachable')).toEqual(
      problem('failed', 'ECONNREFUSED', 'Start the server of the books'),
    );
    expect(find('books-rights')).toEqual({
      state: 'skipped',
      found: 'the books cannot be reached',
    });
    const absent = await examineBooks(server.url.replace(/postgres$/, 'absent'));
    expect(absent('books-reachable')).toEqual(problem('failed', '"absent"', 'create database'));
  });

  it('tells a wrong password', async () => {
    const url = await createDatabase();
    await ask(url, "create role locked login password 'right'");
    const [{ hba_file: file }] = (await ask(url, 'show hba_file')) as [{ hba_file: string }];
    const rule = 'host all locked 127.0.0.1/32 scram-sha-256\n';
    writeFileSync(file, rule + readFileSync(file, 'utf8'));
    await ask(url, 'select pg_reload_conf()');
    const wrong = asUser(url, 'locked:wrong');
    // The server reads the file when it comes to it.
    while (
      await ask(wrong, 'select 1').then(
        () => true,
        () => false,
      )
    )
      await sleep(10);
    const find = await examineBooks(wrong);
    expect(find('books-reachable')).toEqual(problem('failed', 'locked', 'user and password'));
    const right = await examineBooks(asUser(url, 'locked:right'));
    expect(right('books-reachable').state).toBe('ok');
  });

  it('tells a user who may make no tables, and one who may not write those of others', async () => {
    const { url } = await createBooks();
    await ask(url, 'create role guest login; revoke create on schema public from public');
    const guest = await examineBooks(asUser(url, 'guest'));
    expect(guest('books-reachable')).toEqual(
      problem('failed', 'permission denied', 'owner of all tables'),
    );
    const empty = await createDatabase();
    await ask(empty, 'revoke create on schema public from public');
    const find = await examineBooks(asUser(empty, 'guest'));
    expect(find('books-rights')).toEqual(
      problem('failed', 'permission denied for schema public', 'alter database'),
    );
    await ask(url, 'grant create on schema public to guest');
    await ask(url, 'grant select on all tables in schema public to guest');
    const reader = await examineBooks(asUser(url, 'guest'));
    expect(reader('books-rights')).toEqual(
      problem('failed', 'may not write account_days', 'reassign owned'),
    );
  });

  it('tells a user and a server that only read', async () => {
    const { url } = await createBooks();
    await ask(url, 'create role reading superuser login');
    await ask(url, 'alter role reading set default_transaction_read_only = on');
    const find = await examineBooks(asUser(url, 'reading'));
    expect(find('books-rights')).toEqual(
      problem('failed', 'read-only transaction', 'default_transaction_read_only'),
    );
  });

  it('tells a server that a crash may harm, and one that takes commits back', async () => {
    const url = await createDatabase();
    await ask(url, 'create role hasty superuser login');
    await ask(url, 'alter role hasty set synchronous_commit = off');
    const hasty = await examineBooks(asUser(url, 'hasty'));
    expect(hasty('books-persistence')).toEqual(
      problem('warning', 'takes the last commits back', 'Set synchronous_commit on'),
    );
    const careless = await startPostgres(cleanUp, ['-c', 'full_page_writes=off']);
    const find = await examineBooks(careless.url);
    expect(find('books-persistence')).toEqual(
      problem('failed', 'fsync, full_page_writes = off', 'Switch on fsync, full_page_writes'),
    );
  });

  it('knows the tables of this version, of one before and of one after', async () => {
    const { url } = await createBooks();
    const find = await examineBooks(url);
    expect(find('books-schema')).toEqual({ state: 'ok', found: `version ${MIGRATIONS.length}` });
    await ask(url, 'insert into migrations values (9999, 0)');
    const newer = await examineBooks(url);
    expect(newer('books-schema')).toEqual(problem('warning', 'version 9999', 'upgrade'));
    await ask(url, 'delete from migrations');
    const older = await examineBooks(url);
    expect(older('books-schema')).toEqual({
      state: 'ok',
      found: 'version 0; the next start brings it up to date',
    });
  });

  it('warns when the clock of the server is another', async () => {
    const url = await createDatabase();
    const clock = { nowMs: () => Date.now() + 60_000 };
    const find = await examineBooks(url, { clock });
    expect(find('books-clock')).toEqual(problem('warning', 's behind', 'NTP'));
  });

  it('compares the books with what Redis remembers, and tells how far they are', async () => {
    const redis = await startRedisServer({ args: [] });
    const redisUrl = `redis://127.0.0.1:${redis.port}`;
    const { url, id } = await createBooks();
    const empty = await examineBooks(url, { redisUrl });
    for (const name of ['books-identity', 'books-lag'] as const) {
      expect(empty(name)).toEqual({
        state: 'skipped',
        found: 'no node has filled any books yet',
      });
    }
    const note = (untilMs: number) =>
      redis.cli('hset', BOOKS_KEYS.progress, 'until', String(untilMs));
    await redis.cli('set', BOOKS_KEYS.id, id);
    await redis.cli('set', BOOKS_KEYS.lease, 'node-7 run');
    await note(Date.now());
    const well = await examineBooks(url, { redisUrl });
    expect(well('books-identity').state).toBe('ok');
    expect(well('books-lag').state).toBe('ok');
    await note(Date.now() - 200_000);
    const late = await examineBooks(url, { redisUrl });
    expect(late('books-lag')).toEqual(problem('warning', 's behind', 'the node node-7,'));
    await note(Date.now() - 900_000);
    expect((await examineBooks(url, { redisUrl }))('books-lag').state).toBe('failed');
    await redis.cli('del', BOOKS_KEYS.lease);
    await redis.cli('set', BOOKS_KEYS.id, 'others');
    const other = await examineBooks(url, { redisUrl });
    expect(other('books-lag')).toEqual(problem('warning', 'no node fills', 'Start a node'));
    expect(other('books-identity')).toEqual(
      problem('failed', `go to the books others, and these are ${id}`, 'books claim'),
    );
  });

  it('tells that a server has gone, and is back', async () => {
    const { url } = await createBooks();
    await server.kill('SIGINT');
    const gone = await examineBooks(url);
    expect(gone('books-reachable').state).toBe('failed');
    await server.start();
    const back = await examineBooks(url);
    expect(back('books-reachable').state).toBe('ok');
  });
});
