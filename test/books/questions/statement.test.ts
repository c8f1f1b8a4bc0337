import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { dayOfMs } from '../../../src/books/engine/days.ts';
import { migrateBooks } from '../../../src/books/engine/migrate-books.ts';
import type { DoubtfulRow, PaymentRow } from '../../../src/books/engine/tables.ts';
import { INGEST_PACE } from '../../../src/books/ingest/ingest-pace.ts';
import { printStatement } from '../../../src/books/questions/statements/print-statement.ts';
import { readStatement } from '../../../src/books/questions/statements/statement.ts';
import { holdBooksLease, releaseBooksLease } from '../../../src/books/stream/books-lease.ts';
import { mintAccountId } from '../../../src/keys/account-id.ts';
import { creditsOf } from '../../../src/lib/units/micros.ts';
import { BOOKS_KEYS } from '../../../src/redis/redis-keys.ts';
import { parseCsv } from '../../support/parse-csv.ts';
import { describeBooks, makeEntry, makePayment } from '../books-scene.ts';
import { useRedis } from '../use-redis.ts';
import { FORMULAS } from './formulas.ts';
import { contextOf, enter, WANTED } from './questions-scene.ts';
import { comparable, makeEntries, START_MS, sumNaively } from './usage-scene.ts';

const redis = useRedis();
const MONTHS = ['2026-09', '2026-10', '2026-11', '2026-12'];
const MONTH = '2026-11';
const DECEMBER_MS = Date.parse('2026-12-01');

const PAYMENTS: readonly PaymentRow[] = [
  makePayment({ ms: Date.parse('2026-09-30T23:59:59.999Z'), amount: 9_000_000, seq: 1 }),
  makePayment({ ms: START_MS, amount: 500_000_000, seq: 2 }),
  makePayment({ ms: Date.parse('2026-11-01T00:00:00Z'), amount: -20_000_001, seq: 3 }),
  makePayment({ account: 'acct_b', amount: 1, seq: 4 }),
];

describeBooks('statements', (scene) => {
  const read = (books: Books, month: string, account = 'acct_a', nowMs = Date.now()) => {
    const context = { ...contextOf(books, redis), clock: { nowMs: () => nowMs } };
    return readStatement(context, { account, month }, WANTED);
  };
  const print = async (books: Books, format: 'csv' | 'html', account = 'acct_a') => {
    const query = { account, month: MONTH, format };
    const parts: string[] = [];
    for await (const part of printStatement(contextOf(books, redis), query, WANTED)) {
      parts.push(part);
    }
    return parts.join('');
  };

  test('chain from month to month up to the balance', async () => {
    const books = await scene.create();
    const entries = makeEntries(400, 4);
    await enter(books, entries, PAYMENTS);

    const statements = [];
    for (const month of MONTHS) statements.push(await read(books, month));

    const charged = sumNaively(entries, { by: ['day'], account: 'acct_a' }).total.charged;
    const paid = creditsOf(9_000_000 + 500_000_000 - 20_000_001);
    expect(statements[0]?.opening_balance).toBe(0);
    for (const [i, { closing_balance }] of statements.slice(0, -1).entries()) {
      expect(statements[i + 1]?.opening_balance).toBe(closing_balance);
    }
    expect(statements.at(-1)?.closing_balance).toBe(creditsOf(Math.round((paid - charged) * 1e6)));
    expect(statements.map(({ payments }) => payments.length)).toEqual([1, 1, 1, 0]);
  });

  test('have the usage of the month by model and by key', async () => {
    const books = await scene.create();
    const entries = makeEntries(400, 5);
    await enter(books, entries, PAYMENTS);
    const span = { fromMs: Date.parse('2026-11-01'), toMs: Date.parse('2026-12-01') };

    const { by_model, by_key, charged, total } = await read(books, MONTH);

    const of = (by: 'model' | 'key') =>
      sumNaively(entries, { by: [by], account: 'acct_a', ...span });
    expect(comparable(by_model)).toEqual(comparable(of('model').rows));
    expect(comparable(by_key.map((row) => ({ ...row, account: 'acct_a' })))).toEqual(
      comparable(of('key').rows),
    );
    expect(total).toEqual(of('model').total);
    expect(charged).toBe(total.charged);
  });

  test('of an account without entries are empty, and not closed before the books are there', async () => {
    const books = await scene.create();
    expect(await read(books, MONTH)).toMatchObject({
      ...{ account: 'acct_a', account_name: null, month: MONTH, is_closed: false },
      ...{ opening_balance: 0, closing_balance: 0, paid: 0, charged: 0 },
      ...{ payments: [], by_model: [], by_key: [], books_until: null },
    });
  });

  test('list payments in the order of the ledger', async () => {
    const books = await scene.create();
    await enter(
      books,
      [],
      [
        makePayment({ seq: 2, payment: 'third', amount: -5, kind: 'refund', balance: 20 }),
        makePayment({ seq: 1, payment: 'second', amount: 10, note: 'a note', balance: 25 }),
        makePayment({ ms: Date.parse('2026-11-01'), payment: 'first', amount: 15, balance: 15 }),
        makePayment({ ms: DECEMBER_MS, payment: 'later' }),
        makePayment({ account: 'acct_b', payment: 'other' }),
      ],
    );

    const { payments, paid } = await read(books, MONTH);

    expect(payments.map(({ id }) => id)).toEqual(['first', 'second', 'third']);
    expect(payments[1]).toEqual({
      ...{ time: '2026-11-20T12:00:00.000Z', id: 'second', kind: 'topup' },
      ...{ amount: 0.00001, note: 'a note', balance: 0.000025 },
    });
    expect(paid).toBe(0.00002);
  });

  test('are closed when the month is over and all of it is in the books', async () => {
    const books = await scene.create();
    const { connection } = redis;
    const lease = { run: 'node 1', leaseMs: 60_000, booksId: 'books', waitingEntries: 0 };
    const isClosed = async (untilMs: number, nowMs: number) => {
      await holdBooksLease(connection, { ...lease, untilMs });
      return (await read(books, MONTH, 'acct_a', nowMs)).is_closed;
    };

    // Until then a failover may take an entry of the month back, and bring it again.
    const closedMs = DECEMBER_MS + INGEST_PACE.keepMs;
    expect(await isClosed(closedMs - 1, closedMs + 9_000)).toBe(false);
    expect(await isClosed(closedMs, closedMs - 1)).toBe(false);
    expect(await isClosed(closedMs, closedMs)).toBe(true);
    // Late entries that do not count yet, since the archive may have them.
    const setAside = (changes: Partial<DoubtfulRow>) => {
      const row = { ...makeEntry(changes), since_day: dayOfMs(START_MS) };
      return books.db.insertInto('doubtful').values(row).execute();
    };
    await setAside({ ms: DECEMBER_MS });
    await setAside({ account: 'acct_b' });
    expect(await isClosed(closedMs, closedMs)).toBe(true);
    await setAside({});
    expect(await isClosed(closedMs, closedMs)).toBe(false);
    await releaseBooksLease(connection, 'node 1');
    await connection.send('del', [BOOKS_KEYS.progress]);
  });

  test('say what is missing before their end in the bucket of the account', async () => {
    const books = await scene.create();
    const [account, other] = [mintAccountId(7, randomBytes), mintAccountId(8, randomBytes)];
    const lose = (bucket: number, after: string, until: string) =>
      books.db.insertInto('gaps').values({ bucket, after, until, noted_ms: 1 }).execute();
    const damage = (ms: number) =>
      books.db
        .insertInto('damaged')
        .values({ bucket: 7, ms, seq: 0, fields: Buffer.of(1), noted_ms: 1 })
        .execute();
    const missingOf = async (month: string, id = account) =>
      (await read(books, month, id)).incomplete;
    expect(await missingOf(MONTH)).toBeNull();
    expect(await print(books, 'csv', account)).not.toContain('incomplete');
    expect(await print(books, 'html', account)).not.toContain('may be missing');

    await lose(7, `${DECEMBER_MS - 1}-5`, `${DECEMBER_MS}-1`);
    await lose(7, `${DECEMBER_MS}-1`, `${DECEMBER_MS}-2`);
    await damage(DECEMBER_MS - 1);
    await damage(DECEMBER_MS);

    expect(await missingOf('2026-10')).toBeNull();
    expect(await missingOf(MONTH)).toEqual({ gaps: 1, damaged_lines: 1 });
    expect(await missingOf('2026-12')).toEqual({ gaps: 2, damaged_lines: 2 });
    expect(await missingOf(MONTH, other)).toBeNull();
    const rows = parseCsv(await print(books, 'csv', account));
    expect(rows.at(-1)).toMatchObject({
      ...{ line: 'incomplete', note: expect.stringContaining('may be missing') },
    });
    expect(await print(books, 'html', account)).toContain('may be missing');
  });

  test('are of one moment, although a charge and a payment come in meanwhile', async () => {
    const target = await scene.createTarget();
    const writer = scene.open(target);
    await migrateBooks(writer, Date.now());
    await enter(writer, makeEntries(40, 4), PAYMENTS);
    const before = await read(writer, MONTH);
    let writing: Promise<void> | undefined;
    const late = { ms: Date.parse('2026-11-10T00:00:00Z'), account: 'acct_a' };
    const writeOnce = () => {
      writing ??= enter(
        writer,
        [makeEntry({ ...late, charged: 700 })],
        [makePayment({ ...late, seq: 77 })],
      );
      return writing;
    };
    const reader = scene.open(target, true);
    const db = reader.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        await writeOnce();
        return result;
      },
    });

    expect(await read({ ...reader, db }, MONTH)).toMatchObject({
      payments: before.payments,
      closing_balance: before.closing_balance,
      total: before.total,
    });
    const after = await read(reader, MONTH);
    expect(after.payments).toHaveLength(before.payments.length + 1);
    expect(after.charged).toBe(creditsOf(Math.round(before.charged * 1e6) + 700));
  });

  test('print as CSV that never makes a spreadsheet calculate', async () => {
    const books = await scene.create();
    const payments = FORMULAS.map((note, seq) => makePayment({ note, seq }));
    await enter(books, [], payments);
    const rows = parseCsv(await print(books, 'csv')).filter(({ line }) => line === 'payment');
    expect(rows.map(({ note }) => note)).toEqual(FORMULAS.map((text) => `'${text}`));
  });

  test('print as a page that loads nothing, with credits as exact as they are', async () => {
    const books = await scene.create();
    const payment = makePayment({ amount: 1_234_500_000, balance: 1_234_500_000 });
    await enter(books, [makeEntry({ charged: 500 })], [payment]);

    const page = await print(books, 'html');

    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).not.toMatch(/\b(src|href)=|url\(|@import/);
    expect(page).toContain('>1,234.5<');
    expect(page).toContain('>1,234.4995<');
  });

  test('print as CSV with every payment, model and key, and without costs', async () => {
    const books = await scene.create();
    await enter(books, [makeEntry(), makeEntry({ seq: 1, key: 'key_b' })], PAYMENTS);

    const rows = parseCsv(await print(books, 'csv'));

    const statement = await read(books, MONTH);
    const of = (line: string) => rows.filter((row) => row['line'] === line);
    expect(of('opening')[0]?.['balance']).toBe(`${statement.opening_balance}`);
    expect(of('closing')[0]?.['balance']).toBe(`${statement.closing_balance}`);
    expect(of('payment')).toMatchObject(
      statement.payments.map(({ id, amount }) => ({ id, amount: `${amount}` })),
    );
    expect(of('model').map(({ id, charged }) => [id, charged])).toEqual([
      ['llm-opus-4.7', '0.001'],
    ]);
    expect(of('key').map(({ id }) => id)).toEqual(['key_a', 'key_b']);
    expect(rows[0]).not.toHaveProperty('cost');
  });

  test('print as a page in which names are text, and without costs', async () => {
    const books = await scene.create();
    const evil = `<script>alert("1")</script>&'`;
    await enter(
      books,
      [makeEntry({ ms: Date.parse('2026-11-02'), model: evil, charged: 1_234_000_001, cost: 777 })],
      [makePayment({ note: evil, payment: evil })],
    );
    const account = { account: 'acct_a', bucket: 7, plan: 'pro', status: 'active', created_ms: 0 };
    await books.db
      .insertInto('account_names')
      .values({ ...account, name: evil })
      .execute();
    const key = { key: 'key_a', account: 'acct_a', last4: 'abcd', status: 'active' };
    await books.db
      .insertInto('key_names')
      .values({ ...key, name: evil })
      .execute();

    const page = await print(books, 'html');

    expect(page.toLowerCase()).not.toContain('<script');
    const escaped = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;';
    expect(page.split(escaped)).toHaveLength(7);
    expect(page).toContain('November 2026');
    expect(page).toContain('1,234.000001');
    expect(page).not.toContain('0.000777');
    expect(page).toContain('Preliminary');
  });
});
