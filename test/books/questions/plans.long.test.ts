import { CompiledQuery, sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { dayOfMs, entriesOf } from '../../../src/books/engine/days.ts';
import { openDay } from '../../../src/books/engine/migrate-books.ts';
import { findDayToRenew, renewIndexes } from '../../../src/books/engine/renew-indexes.ts';
import { listEntries } from '../../../src/books/questions/entries/list-entries.ts';
import { encodePageCursor } from '../../../src/books/questions/page-cursor.ts';
import { findReceipt } from '../../../src/books/questions/receipts/find-receipt.ts';
import { listRequests } from '../../../src/books/questions/requests/list-requests.ts';
import type { RequestFilter } from '../../../src/books/questions/requests/request-filter.ts';
import { addUp } from '../../../src/books/writing/add-up.ts';
import { insertRows } from '../../../src/books/writing/insert-rows.ts';
import { writeRollups } from '../../../src/books/writing/write-rollups.ts';
import { describeBooks, makeEntry } from '../books-scene.ts';
import { useRedis } from '../use-redis.ts';
import { contextOf, WANTED } from './questions-scene.ts';

const redis = useRedis();
const ROWS = 20_000;
const ACCOUNTS = 200;
const START_MS = Date.parse('2026-11-20T00:00:00Z');
const DAY = dayOfMs(START_MS);
const END_MS = START_MS + ROWS * 1_000;
const PRIMARY_KEY = /_pkey|PRIMARY KEY/;

describeBooks('how rows are found', (scene) => {
  /** For questions, which change no entries. */
  let askedDay: Promise<Books> | undefined;
  const shareFullDay = () => {
    askedDay ??= createFullDay();
    return askedDay;
  };

  test('an index leads to what a question is about', async () => {
    const books = await shareFullDay();
    const context = contextOf(books, redis);
    const before = encodePageCursor('r', { ms: END_MS - 5_000, bucket: 1, seq: 1 });
    const ask = (filter: RequestFilter) =>
      plansOf(books, () => listRequests(context, { ...filter, limit: 20, before }, WANTED));

    expectAll(await ask({}), PRIMARY_KEY);
    // Nothing leads to it, so it is looked for in one part of the day after the other.
    expect((await ask({ model: 'none' })).length).toBeGreaterThan(1);
    expectAll(await ask({ account: 'acct_3' }), /_account/);
    expectAll(await ask({ account: 'acct_3', model: 'none' }), /_account/);
    expectAll(await ask({ account: 'acct_3', key: 'none', model: 'none' }), /_account/);
    expectAll(await ask({ account: 'acct_3', status: { min: 400, max: 499 } }), /_failures_of/);
    expectAll(await ask({ status: { min: 500, max: 599 } }), /_failed/);
    expectAll(await ask({ outcome: 'left', model: 'none' }), /_failed/);
    expectAll(await ask({ chargedMicros: { min: 501 } }), /_charged/);
    expectAll(await ask({ durationMs: { min: 801 } }), /_took/);
    // Nearly all cost as much, so they are found in the order of time.
    const [rare = '', ...byTime] = await ask({ chargedMicros: { min: 1 } });
    expectAll([rare], /_charged/);
    expectAll(byTime, PRIMARY_KEY);

    const { id } = (await listRequests(context, { limit: 1 }, WANTED)).data[0] ?? { id: '' };
    expectAll(await plansOf(books, () => findReceipt(context, id, WANTED)), /_event/);
    const read = async (account: string | undefined, key?: string) => {
      for await (const text of listEntries(context, { account, key, fromMs: START_MS }, WANTED)) {
        expect(text).not.toBe(undefined);
        break;
      }
    };
    expectAll(await plansOf(books, () => read('acct_3')), /_account/);
    const name = { name: '', last4: 'abcd', status: 'active' };
    const owned = { key: 'key_a', account: 'acct_3', ...name };
    await books.db.insertInto('key_names').values(owned).execute();
    expectAll(await plansOf(books, () => read(undefined, 'key_a')), /_account/);
    expectAll(await plansOf(books, () => read(undefined)), PRIMARY_KEY);
  });

  test('the newest rows of an account are read in the order of its index', async () => {
    const books = await createFullDay();
    const context = contextOf(books, redis);
    const key = 'key_1';
    for (const filter of [
      { account: 'acct_3' },
      { account: 'acct_3', key },
      { account: 'acct_3', key, model: 'rare' },
      { account: 'acct_3', status: { min: 500, max: 599 } },
    ]) {
      const plans = await plansOf(books, () =>
        listRequests(context, { ...filter, limit: 5 }, WANTED),
      );
      expectAll(plans, /_of_account|_failures_of/);
      for (const plan of plans) expect(plan).not.toMatch(/Sort|TEMP B-TREE/);
    }
  });

  test('a page looks at so many rows, and the next one goes on there', async () => {
    const books = await shareFullDay();
    const context = contextOf(books, redis);
    const query = { model: 'rare', limit: 5 };
    const found: string[] = [];
    let before: string | undefined;
    let calls = 0;
    do {
      const page = await listRequests(context, { ...query, before }, WANTED);
      found.push(...page.data.map(({ id }) => id));
      before = page.next ?? undefined;
      calls += 1;
    } while (before !== undefined);
    expect(new Set(found).size).toBe(ROWS / 1_000);
    expect(found).toHaveLength(ROWS / 1_000);
    expect(calls).toBeLessThan(10);
  });

  test('a table of an earlier version gets its indexes later', async () => {
    const { books, before } = await createEarlierDay();
    expect(await findDayToRenew(books, DAY)).toBeUndefined();
    expect(await findDayToRenew(books, DAY + 1)).toBe(DAY);
    await renewIndexes(books, DAY);
    expect(await findDayToRenew(books, DAY + 1)).toBeUndefined();
    expect(await listIndexes(books)).toEqual(before);
  });

  if (scene.engine === 'postgres') {
    test('indexes that were built stay while somebody reads the day', async () => {
      const { books, before } = await createEarlierDay();
      await books.db.transaction().execute(async (tx) => {
        await tx.selectFrom(entriesOf(DAY)).select('ms').limit(1).execute();
        await expect(renewIndexes(books, DAY)).rejects.toThrow('lock timeout');
        const found = await listIndexes(books);
        expect(found).toHaveLength(before.length + 3);
        expect(found).toEqual(expect.arrayContaining(before));
        await openDay(books, DAY + 1);
      });
      await renewIndexes(books, DAY);
      expect(await findDayToRenew(books, DAY + 1)).toBeUndefined();
    });
  }

  async function createEarlierDay() {
    const books = await createFullDay();
    const table = entriesOf(DAY);
    const before = await listIndexes(books);
    for (const name of ['charged', 'took', 'failures_of', 'of_account']) {
      await sql.raw(`drop index ${table}_${name}`).execute(books.db);
    }
    for (const name of ['account', 'account_of', 'failed_of']) {
      await sql.raw(`create index ${table}_${name} on ${table} (account, ms)`).execute(books.db);
    }
    await books.db.updateTable('days').set({ indexes: null }).execute();
    return { books, before };
  }

  async function listIndexes({ engine, db }: Books): Promise<unknown[]> {
    const named =
      engine === 'postgres'
        ? sql`select indexname as name from pg_indexes where indexname like 'entries_%' order by 1`
        : sql`select name from sqlite_master where type = 'index' and name like 'entries_%' order by 1`;
    return (await named.execute(db)).rows;
  }

  async function createFullDay(): Promise<Books> {
    const books = await scene.create();
    await openDay(books, DAY);
    const rows = Array.from({ length: ROWS }, (_, i) =>
      makeEntry({
        ...{ ms: START_MS + i * 1_000, bucket: i % 256, account: `acct_${i % ACCOUNTS}` },
        ...(i % 100 === 0 && { outcome: 'failed', status: 503 }),
        ...(i % 1_000 === 7 && { model: 'rare' }),
      }),
    );
    await books.db.transaction().execute(async (tx) => {
      await insertRows(books.engine, tx, {
        ...{ columns: 'entries', table: entriesOf(DAY), rows, onConflict: 'do nothing' },
        identity: ['ms', 'bucket', 'seq'],
      });
      await writeRollups(books.engine, tx, addUp(rows, []));
    });
    if (scene.engine === 'postgres') await sql`analyze`.execute(books.db);
    return books;
  }
});

/** How the engine carries out what a question asks of the tables of days. */
async function plansOf(books: Books, ask: () => Promise<unknown>): Promise<string[]> {
  const executor = books.db.getExecutor();
  const asked: CompiledQuery[] = [];
  const { executeQuery } = executor;
  executor.executeQuery = (query) => {
    if (query.sql.includes('entries_')) asked.push(query);
    return executeQuery.call(executor, query) as never;
  };
  try {
    await ask();
  } finally {
    executor.executeQuery = executeQuery;
  }
  const plans: string[] = [];
  const explain = books.engine === 'postgres' ? 'explain' : 'explain query plan';
  for (const { sql: text, parameters } of asked) {
    const { rows } = await books.db.executeQuery(
      CompiledQuery.raw(`${explain} ${text}`, [...parameters]),
    );
    plans.push(JSON.stringify(rows));
  }
  return plans;
}

function expectAll(plans: readonly string[], index: RegExp): void {
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) {
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(/Seq Scan|SCAN entries_\d+(?! USING)(?!")/);
  }
}
