import fc from 'fast-check';
import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { dayOfMs } from '../../../src/books/engine/days.ts';
import { exportUsage } from '../../../src/books/questions/usage/export-usage.ts';
import { printUsage } from '../../../src/books/questions/usage/print-usage.ts';
import { readUsage } from '../../../src/books/questions/usage/read-usage.ts';
import { sumUsage } from '../../../src/books/questions/usage/sum-usage.ts';
import type { UsageQuery } from '../../../src/books/questions/usage/usage-query.ts';
import { parseCsv } from '../../support/parse-csv.ts';
import { describeBooks, makeEntry, makePayment } from '../books-scene.ts';
import { useRedis } from '../use-redis.ts';
import { FORMULAS } from './formulas.ts';
import { contextOf, enter, expectLeft, WANTED } from './questions-scene.ts';
import {
  anyQuery,
  comparable,
  DAY_MS,
  HOUR_MS,
  makeEntries,
  START_MS,
  sumNaively,
} from './usage-scene.ts';

const redis = useRedis();
const RUNS = 60;

async function nameSubjects({ db }: Books, accounts: readonly string[], keys: readonly string[]) {
  for (const account of accounts) {
    const rest = { bucket: 7, plan: 'pro', status: 'active', created_ms: 0 };
    await db
      .insertInto('account_names')
      .values({ ...rest, account, name: `Name of ${account}` })
      .execute();
  }
  for (const key of keys) {
    const rest = { account: 'acct_a', last4: 'abcd', status: 'active' };
    await db
      .insertInto('key_names')
      .values({ ...rest, key, name: `Name of ${key}` })
      .execute();
  }
}

describeBooks('usage', (scene) => {
  const sum = (books: Books, query: UsageQuery, signal = WANTED) =>
    sumUsage(contextOf(books, redis), query, signal);
  const exportAll = async (books: Books, query: UsageQuery) => {
    let text = '';
    for await (const part of exportUsage(contextOf(books, redis), query, WANTED)) text += part;
    return text;
  };

  test('is what the entries add up to, by any groups, filters and times', async () => {
    const books = await scene.create();
    const entries = makeEntries(800, 1);
    await enter(books, entries);
    await nameSubjects(books, [], ['key_a2']);

    await fc.assert(
      fc.asyncProperty(anyQuery, async (query) => {
        const { data, total } = await sum(books, query);
        const naive = sumNaively(entries, query);
        expect(comparable(data)).toEqual(comparable(naive.rows));
        expect(total).toEqual(naive.total);
      }),
      { numRuns: RUNS },
    );
  });

  test('as CSV has the same rows, in the same order', async () => {
    const books = await scene.create();
    await enter(books, makeEntries(300, 2));
    await nameSubjects(books, ['acct_a', 'acct_b'], ['key_a1']);

    await fc.assert(
      fc.asyncProperty(anyQuery, async (query) => {
        const { data } = await sum(books, query);
        const rows = parseCsv(await exportAll(books, query));
        const flat = data.map(({ tokens, ...rest }) => ({ ...rest, ...tokens }));
        expect(rows).toEqual(flat.map((row) => mapValues(row, (value) => `${value ?? ''}`)));
      }),
      { numRuns: RUNS / 2 },
    );
  });

  test('as JSON is the same, in pieces of a bounded length', async () => {
    const books = await scene.create();
    const entries = Array.from({ length: 1_000 }, (_, seq) =>
      makeEntry({ seq, model: `model ${seq}` }),
    );
    await enter(books, entries);

    for (const query of [{ by: ['model'] }, { by: ['model'], model: 'none' }] as const) {
      const pieces: string[] = [];
      for await (const piece of printUsage(contextOf(books, redis), query, WANTED)) {
        pieces.push(piece);
      }
      expect(JSON.parse(pieces.join(''))).toEqual(await sum(books, query));
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(70_000);
    }
  });

  test('has names of accounts and keys, and the account of each key', async () => {
    const books = await scene.create();
    await enter(books, [makeEntry(), makeEntry({ seq: 1, key: 'key_b' })]);
    await nameSubjects(books, ['acct_a'], ['key_a']);

    const { by, data } = await sum(books, { by: ['key', 'day'] });

    expect(by).toEqual(['day', 'key']);
    const account = { account: 'acct_a', account_name: 'Name of acct_a' };
    expect(data).toMatchObject([
      { day: '2026-11-20', ...account, key: 'key_a', key_name: 'Name of key_a' },
      { day: '2026-11-20', ...account, key: 'key_b', key_name: null },
    ]);
  });

  test('by end user reads one row more than may be in memory, and no further', async () => {
    const { db, ...rest } = await scene.create();
    const users = Array.from({ length: 30 }, (_, seq) => makeEntry({ seq, end_user: `u${seq}` }));
    await enter({ db, ...rest }, users);
    let rowsRead = 0;
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        rowsRead = Math.max(rowsRead, result.rows.length);
        return result;
      },
    };
    const read = async (rowsMax: number) => {
      const books = { ...rest, db: db.withPlugin(counting) };
      let rows = 0;
      const context = contextOf(books, redis);
      const usage = readUsage(context, { by: ['end_user'], rowsMax }, WANTED);
      for await (const some of usage) rows += some.length;
      return rows;
    };
    await expect(read(20)).rejects.toMatchObject({ code: 'too_many_rows' });
    expect(rowsRead).toBe(21);
    expect(await read(30)).toBe(30);
  });

  test('by time goes on from quiet days to busy ones, of which few fit into memory', async () => {
    const books = await scene.create();
    const [quiet, busy, accounts] = [40, 10, 7];
    const entries = Array.from({ length: quiet + busy }, (_, day) =>
      Array.from({ length: day < quiet ? 1 : accounts }, (_, account) =>
        makeEntry({ ms: START_MS + day * DAY_MS, account: `acct_${account}`, seq: account }),
      ),
    );
    await enter(books, entries.flat());
    const read = async (rowsMax: number) => {
      const days: unknown[] = [];
      const context = contextOf(books, redis);
      const usage = readUsage(context, { by: ['day', 'account'], rowsMax }, WANTED);
      for await (const some of usage) days.push(...some.map(({ names: [day] }) => day));
      return days;
    };

    const days = entries.flatMap((ofDay, day) => ofDay.map(() => dayOfMs(START_MS) + day));
    expect(await read(accounts + 3)).toEqual(days);
    expect(await read(accounts)).toEqual(days);
    await expect(read(accounts - 1)).rejects.toMatchObject({ code: 'too_many_rows' });
  });

  test('in order of charges has the top spenders, and the total of all', async () => {
    const books = await scene.create();
    const charges = [
      ['acct_a', 2_000_000],
      ['acct_b', 9_000_000],
      ['acct_c', 5_000_000],
    ] as const;
    await enter(
      books,
      charges.map(([account, charged], seq) => makeEntry({ seq, account, charged })),
    );

    const top = await sum(books, { by: ['account'], order: 'charged', limit: 2 });

    expect(top.data.map(({ account, charged }) => [account, charged])).toEqual([
      ['acct_b', 9],
      ['acct_c', 5],
    ]);
    expect(top.total.charged).toBe(16);
    const csv = await exportAll(books, { by: ['account'], order: 'charged', limit: 2 });
    expect(parseCsv(csv).map(({ account }) => account)).toEqual(['acct_b', 'acct_c']);
  });

  test('counts payments of the time and the account, but none of a key or a model', async () => {
    const books = await scene.create();
    const payments = [
      makePayment({ amount: 5_000_000 }),
      makePayment({ amount: -1_000_000, seq: 10 }),
      makePayment({ account: 'acct_b', amount: 7_000_000, seq: 11 }),
    ];
    await enter(books, [makeEntry()], payments);
    const { ms } = makePayment();

    const paid = async (query: Partial<UsageQuery>) =>
      (await sum(books, { by: ['day'], ...query })).paid;

    expect(await paid({})).toBe(11);
    expect(await paid({ account: 'acct_a', fromMs: ms, toMs: ms + 1 })).toBe(4);
    expect(await paid({ toMs: ms })).toBe(0);
    expect(await paid({ key: 'key_a' })).toBeNull();
    expect(await paid({ model: 'llm-opus-4.7' })).toBeNull();
    expect(await paid({ upstream: 'main' })).toBeNull();
  });

  test('has a margin over what is known to cost something', async () => {
    const books = await scene.create();
    await enter(books, [
      makeEntry({ model: 'm-1', charged: 500, cost: 300 }),
      makeEntry({ model: 'm-1', charged: 900, cost: null, seq: 1 }),
      makeEntry({ model: 'm-2', charged: 900, cost: null, seq: 2 }),
    ]);

    const { data, total } = await sum(books, { by: ['model'] });

    expect(data.map(({ cost, margin }) => [cost, margin])).toEqual([
      [0.0003, 0.0002],
      [null, null],
    ]);
    expect(total).toMatchObject({ cost: 0.0003, margin: 0.0002 });
  });

  test('is empty before anything was entered', async () => {
    const books = await scene.create();
    const { data, total, paid } = await sum(books, { by: ['model'] });
    expect({ data, requests: total.requests, paid }).toEqual({ data: [], requests: 0, paid: 0 });
    expect(parseCsv(await exportAll(books, { by: ['model'] }))).toEqual([]);
  });

  test('of dropped days answers by whole hours, and otherwise says what is missing', async () => {
    const books = await scene.create();
    await enter(books, [makeEntry({ ms: START_MS }), makeEntry({ ms: START_MS + 2 * DAY_MS })]);
    const dropped = dayOfMs(START_MS);
    await books.db.updateTable('days').set('state', 'dropped').where('day', '=', dropped).execute();

    expect((await sum(books, { by: ['day'], fromMs: START_MS })).data).toHaveLength(2);
    await expect(sum(books, { by: ['end_user'] })).rejects.toMatchObject({
      code: 'entries_dropped',
      message: expect.stringContaining('2026-10-30'),
    });
    const ragged = { by: ['day'] as const, fromMs: START_MS + 5 };
    await expect(sum(books, ragged)).rejects.toMatchObject({ code: 'entries_dropped' });
    const after = { by: ['end_user'] as const, fromMs: START_MS + DAY_MS };
    expect((await sum(books, after)).total.requests).toBe(1);
  });

  test('of more accounts than are read at once has them all, in their order', async () => {
    const books = await scene.create();
    const accounts = Array.from({ length: 5_003 }, (_, i) => `acct_${10_000 + i}`);
    const entries = accounts.flatMap((account, seq) => [
      makeEntry({ account, seq, ms: START_MS }),
      makeEntry({ account, seq, ms: START_MS + DAY_MS + HOUR_MS + 7 }),
    ]);
    await enter(books, entries);

    const query = { by: ['account', 'model'] as const, toMs: START_MS + DAY_MS + HOUR_MS + 8 };
    const { data, total } = await sum(books, query);

    expect(data.map(({ account }) => account)).toEqual(accounts);
    expect(data.every(({ requests }) => requests === 2)).toBe(true);
    expect(total.requests).toBe(entries.length);
  });

  test('as CSV never makes a spreadsheet calculate', async () => {
    const books = await scene.create();
    await enter(
      books,
      FORMULAS.map((model, seq) => makeEntry({ model, seq })),
    );
    const rows = parseCsv(await exportAll(books, { by: ['model'] }));
    expect(rows.map(({ model }) => model).sort()).toEqual(
      FORMULAS.map((text) => `'${text}`).sort(),
    );
  });

  test('ends when nobody waits for it', async () => {
    const books = await scene.create();
    await enter(books, makeEntries(50, 3));
    await expectLeft(books, 5, (read, signal) => sum(read, { by: ['end_user'] }, signal));
  });
});

function mapValues(row: object, change: (value: unknown) => string) {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, change(value)]));
}
