import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { addUp } from '../../../src/books/writing/add-up.ts';
import { readIngestion } from '../../../src/books/writing/write-batch.ts';
import type { BooksTarget } from '../../../src/lib/address/books-target.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { type PostgresServer, startPostgres } from '../../support/servers/start-postgres.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createBooksOpener, createFileTarget } from '../books-scene.ts';
import { createAccount, serve, type TestAccount } from '../stream-scene.ts';
import { HASTY_PACE, readEntries, useIngestServer } from './ingest-scene.ts';
import type { IngesterOrder } from './ingester-main.ts';

const PROGRAM = 'dist/test/books/ingest/ingester-main.js';
const BUCKETS = [2, 2, 99, 250];
/** Between two requests of an account. After each kill the last two minutes are read once more. */
const PAUSE_MS = 8;
/** Batches from one kill to the next. */
const BATCHES_MAX = 7;

const store = useIngestServer();
const cleanUp = useCleanUp();
const open = createBooksOpener(cleanUp);
const children = new Set<ChildProcess>();

let endTraffic = async () => {};

afterEach(async () => {
  await endTraffic();
  await Promise.all([...children].map(kill));
});

function spawnIngester(target: BooksTarget, nodeId: string): ChildProcess {
  const pace = { ...HASTY_PACE, keepMs: 0, trimMs: 20, leaseMs: 300 };
  const run = `${nodeId} ${randomUUID()}`;
  const order: IngesterOrder = { port: store.server.port, target, run, pace };
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(order)], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  children.add(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  children.delete(child);
}

/** Serves requests on all accounts until told to stop. Returns the ids of the charged requests. */
async function startTraffic() {
  const accounts = await Promise.all(
    BUCKETS.map((bucket) => createAccount(store.connection, bucket)),
  );
  const requests: string[] = [];
  let isOver = false;
  const lanes = accounts.map(async (account) => {
    while (!isOver) {
      requests.push(await serve(store.connection, account));
      await sleep(PAUSE_MS);
    }
  });
  endTraffic = async () => {
    isOver = true;
    await Promise.all(lanes);
  };
  return {
    accounts,
    end: async () => {
      await endTraffic();
      return new Set(requests);
    },
  };
}

/** Undefined while the database does not answer. */
async function readVersion(books: Books): Promise<number | undefined> {
  return await readIngestion(books).then(
    ({ version }) => version,
    () => undefined,
  );
}

async function waitForBatches(books: Books, count: number): Promise<void> {
  let first: number | undefined;
  await waitUntil(async () => {
    const version = await readVersion(books);
    first ??= version;
    return first !== undefined && version !== undefined && version >= first + count;
  }, `${count} batches are written`);
}

/** What was charged, by Redis. */
async function readCharged({ bucket, id }: TestAccount): Promise<number> {
  const record = keysOfBucket(bucket).account(id);
  return 1_000_000_000 - Number(await store.connection.send('hget', [record, 'balance']));
}

async function expectExact(books: Books, requests: ReadonlySet<string>, accounts: TestAccount[]) {
  await waitUntil(
    async () => (await readEntries(books)).length >= requests.size,
    'everything is in the books',
    120_000,
  );
  const entries = await readEntries(books);
  expect(entries).toHaveLength(requests.size);
  expect(new Set(entries.map(({ request }) => request))).toEqual(requests);
  const payments = await books.db.selectFrom('payments').selectAll().execute();
  expect(payments).toHaveLength(BUCKETS.length);
  const sums = addUp(entries, payments);
  const sorted = (rows: readonly object[]) =>
    rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
  for (const [table, expected] of [
    ['usage_hours', sums.usageHours],
    ['usage_days', sums.usageDays],
    ['account_days', sums.accountDays],
    ['fleet_hours', sums.fleetHours],
    ['account_totals', sums.accountTotals],
    ['key_months', sums.keyMonths],
  ] as const) {
    const rows = await books.db.selectFrom(table).selectAll().execute();
    expect(sorted(rows), table).toEqual(sorted(expected));
  }
  for (const account of accounts) {
    const total = sums.accountTotals.find((row) => row.account === account.id);
    expect(total?.charged).toBe(await readCharged(account));
  }
  for (const table of ['gaps', 'repeats', 'damaged'] as const) {
    expect(await books.db.selectFrom(table).selectAll().execute()).toEqual([]);
  }
}

async function proveWithPostgres(server: PostgresServer, kills: number): Promise<void> {
  const url = await server.createDatabase('crashes');
  const target = { kind: 'postgres', url, connectionsMax: 2 } as const;
  const books = open(target);
  const traffic = await startTraffic();
  let child = spawnIngester(target, 'a');
  for (let i = 0; i < kills; i++) {
    await waitForBatches(books, 1 + (i % BATCHES_MAX));
    const isNode = i % 3 !== 1;
    const isServer = i % 3 !== 0;
    await Promise.all([isNode && kill(child), isServer && server.kill('SIGKILL')]);
    if (isServer) await server.start();
    if (isNode) child = spawnIngester(target, i % 2 === 0 ? 'b' : 'a');
  }
  const requests = await traffic.end();
  await expectExact(books, requests, traffic.accounts);
  console.log(`${kills} kills: ${requests.size} charges, each once in Postgres`);
}

test('25 kills of a node, of Postgres and of both lose nothing and count nothing twice', async () => {
  await proveWithPostgres(await startPostgres(cleanUp), 25);
}, 600_000);

test('12 kills of a node with libsql lose nothing and count nothing twice', async () => {
  const target = createFileTarget(cleanUp);
  const books = open(target, true);
  const traffic = await startTraffic();
  let child = spawnIngester(target, 'a');
  for (let i = 0; i < 12; i++) {
    await waitForBatches(books, 1 + (i % BATCHES_MAX));
    await kill(child);
    child = spawnIngester(target, 'a');
  }
  const requests = await traffic.end();
  await expectExact(books, requests, traffic.accounts);
  console.log(`12 kills: ${requests.size} charges, each once in libsql`);
}, 600_000);

test('20 connections that the server ends in a batch lose nothing and count nothing twice', async () => {
  const server = await startPostgres(cleanUp);
  const url = await server.createDatabase('ended');
  const target = { kind: 'postgres', url, connectionsMax: 2 } as const;
  const traffic = await startTraffic();
  spawnIngester(target, 'a');
  const admin = open({ kind: 'postgres', url: server.url, connectionsMax: 1 });
  const books = open(target);
  for (let i = 0; i < 20; i++) {
    await waitForBatches(books, 1 + (i % BATCHES_MAX));
    await waitUntil(async () => {
      // Only a batch is in a transaction for longer than a statement.
      const { rows } = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = 'ended' and state = 'idle in transaction'`.execute(admin.db);
      return rows.length > 0;
    }, 'a batch has lost its connection');
  }
  await expectExact(books, await traffic.end(), traffic.accounts);
}, 600_000);
