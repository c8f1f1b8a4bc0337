import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { AuditEntry } from '../../../src/accounts/audit/audit-entry.ts';
import { createAuditLog } from '../../../src/accounts/audit/audit-log.ts';
import type { AuditRow } from '../../../src/books/engine/audit-row.ts';
import { keepFact } from '../../../src/books/engine/facts.ts';
import { MIGRATIONS } from '../../../src/books/engine/migrations.ts';
import { splitWords } from '../../../src/books/ingest/names/split-words.ts';
import { type AuditQuery, listAudit } from '../../../src/books/questions/audit/list-audit.ts';
import { readWaiting } from '../../../src/books/questions/audit/read-waiting.ts';
import { explainOutage } from '../../../src/books/questions/explain-outage.ts';
import { listRefusals } from '../../../src/books/questions/list-refusals.ts';
import type { QuestionContext } from '../../../src/books/questions/question.ts';
import { readStatus } from '../../../src/books/questions/read-status.ts';
import { searchAccounts } from '../../../src/books/questions/search-accounts.ts';
import { mintAccountId } from '../../../src/keys/account-id.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { describeBooks, makeEntry } from '../books-scene.ts';
import { useRedis } from '../use-redis.ts';
import { contextOf, enter, expectLeft, WANTED } from './questions-scene.ts';

const redis = useRedis();
const MINUTE_MS = 60_000;
const START_MS = Date.parse('2026-11-18T10:30:00Z');

describeBooks('refusals', (scene) => {
  const refusal = (minutes: number, count: number, more: object = {}) => ({
    ...{ minute: START_MS / MINUTE_MS + minutes, source: 's', account: 'acct_a', key: 'key_a' },
    ...{ model: 'm', refusal: 'rate_limited', count, ...more },
  });

  test('are added up by what is asked for', async () => {
    const context = contextOf(await scene.create(), redis);
    await context.books.db
      .insertInto('refusals')
      .values([
        ...[refusal(0, 1), refusal(0, 2, { source: 't' }), refusal(1, 4)],
        refusal(60, 8, { refusal: 'overloaded', account: '', key: '' }),
        refusal(1_440, 16, { account: 'acct_b', key: 'key_b' }),
      ])
      .execute();
    await context.books.db
      .insertInto('key_names')
      .values({ key: 'key_a', account: 'acct_a', name: 'web', last4: 'abcd', status: 'active' })
      .execute();
    const ask = async (query: Partial<Parameters<typeof listRefusals>[1]>) =>
      await listRefusals(context, { by: 'refusal', ...query }, WANTED);

    expect(await ask({})).toEqual({
      ...{ by: 'refusal', from: null, to: null, total: 31, books_until: null },
      data: [
        { refusal: 'rate_limited', count: 23 },
        { refusal: 'overloaded', count: 8 },
      ],
    });
    expect((await ask({ by: 'key' })).data).toEqual([
      { account: 'acct_b', account_name: null, key: 'key_b', key_name: null, count: 16 },
      { account: null, account_name: null, key: null, key_name: null, count: 8 },
      { account: 'acct_a', account_name: null, key: 'key_a', key_name: 'web', count: 7 },
    ]);
    expect((await ask({ by: 'account', account: 'acct_b' })).data).toEqual([
      { account: 'acct_b', account_name: null, count: 16 },
    ]);
    expect((await ask({ by: 'day' })).data).toEqual([
      { day: '2026-11-18', count: 15 },
      { day: '2026-11-19', count: 16 },
    ]);
    expect((await ask({ by: 'hour', key: 'key_a' })).data).toEqual([
      { hour: '2026-11-18T10:00:00.000Z', count: 7 },
    ]);
    const span = { fromMs: START_MS + 59_999, toMs: START_MS + MINUTE_MS + 1 };
    expect(await ask({ by: 'minute', ...span })).toMatchObject({
      ...{ from: '2026-11-18T10:30:59.999Z', to: '2026-11-18T10:31:00.001Z', total: 7 },
      data: [
        { minute: '2026-11-18T10:30:00.000Z', count: 3 },
        { minute: '2026-11-18T10:31:00.000Z', count: 4 },
      ],
    });
    expect((await ask({ account: `' or ''='` })).total).toBe(0);
  });

  test('are not read to the end when nobody waits for them any more', async () => {
    const context = contextOf(await scene.create(), redis);
    const rows = [0, 100, 200, 500].map((minutes) => refusal(minutes, 1));
    await context.books.db.insertInto('refusals').values(rows).execute();
    expect((await listRefusals(context, { by: 'refusal' }, WANTED)).total).toBe(4);
    // One for each end of the time, and one for the first hour.
    await expectLeft(context.books, 3, (books, signal) =>
      listRefusals(contextOf(books, redis), { by: 'refusal' }, signal),
    );
  });

  test('of too many rows are refused', async () => {
    const context = contextOf(await scene.create(), redis);
    for (let first = 0; first < 10_001; first += 1_667) {
      const rows = Array.from({ length: 1_667 }, (_, i) => refusal(first + i, 1));
      await context.books.db.insertInto('refusals').values(rows).execute();
    }
    await expect(listRefusals(context, { by: 'minute' }, WANTED)).rejects.toMatchObject({
      code: 'too_many_rows',
    });
    expect((await listRefusals(context, { by: 'day' }, WANTED)).data.length).toBe(8);
  });
});

describeBooks('the search for accounts', (scene) => {
  test('finds each whose name or id has words with all these beginnings, page by page', async () => {
    const context = contextOf(await scene.create(), redis);
    const add = async (name: string) => {
      const account = mintAccountId(3, randomBytes);
      const words = [...splitWords(name), account.toLowerCase()];
      await context.books.db
        .insertInto('words')
        .values(words.map((word) => ({ word, account })))
        .execute();
      return account;
    };
    const ids = [await add('North Bakery'), await add('South BAKERY & Sons')].sort();
    const [north, south] = [await add('Nörth-Pole, Ltd.'), await add('100%_real')];
    const find = async (search: string, more: { limit?: number; after?: string } = {}) =>
      await searchAccounts(context, { search, limit: 10, ...more }, WANTED);

    expect(await find('bak')).toEqual({ ids, next: null });
    expect(await find('BAKERY', { limit: 1 })).toEqual({ ids: ids.slice(0, 1), next: ids[0] });
    expect(await find('bakery', { limit: 1, after: ids[0] ?? '' })).toEqual({
      ...{ ids: ids.slice(1), next: null },
    });
    expect((await find('son sou bak')).ids).toHaveLength(1);
    expect((await find('bak pole')).ids).toEqual([]);
    expect((await find('ltd NÖRTH-po')).ids).toEqual([north]);
    expect((await find(south.toUpperCase())).ids).toEqual([south]);
    expect((await find(south.slice(0, -2))).ids).toEqual([south]);
    expect((await find('100')).ids).toEqual([south]);
    for (const search of ['ry', '%', '_', `'`, '\u{10ffff}', ' ', '--', '*']) {
      expect((await find(search)).ids, search).toEqual([]);
    }
    await expect(find('bak', { after: 'x' })).rejects.toMatchObject({ code: 'invalid_cursor' });
  });
});

describeBooks('the audit log in the books', (scene) => {
  test('is one list of what waits in Redis and what is entered, each entry once', async () => {
    const { server, connection } = redis;
    await server.cli('flushall');
    const context = contextOf(await scene.create(), redis);
    const log = createMemoryLog();
    const audit = createAuditLog({ connection, randomBytes, clock: context.clock, log });
    const add = (what: string, more: Partial<AuditEntry> = {}) =>
      audit.add({
        ...{
          what,
          who: { via: 'api', token: null, address: null, operator: null },
          node: 'n',
          outcome: 'done',
        },
        ...{ account: 'acct_a', key: null, before: null, after: { what }, ...more },
      });
    for (let i = 0; i < 7; i++) await add(`w${i}`, { account: i % 2 === 0 ? 'acct_a' : 'acct_b' });
    const fromRedis = await readAll(context, { limit: 3 });
    expect(fromRedis.map(({ what }) => what)).toEqual(['w6', 'w5', 'w4', 'w3', 'w2', 'w1', 'w0']);
    expect(fromRedis[0]).toMatchObject({ before: null, after: { what: 'w6' }, node: 'n' });

    const rows = await readWaiting(context, '0-0', WANTED);
    // The ingester has entered more than its cursor says, as after its end.
    await enterAudit(context, rows.slice(0, 5), rows[2]);
    expect(await readAll(context, { limit: 2 })).toEqual(fromRedis);
    await enterAudit(context, rows.slice(5), rows[6]);
    await server.cli('flushall');
    expect(await readAll(context, { limit: 2 })).toEqual(fromRedis);
    expect(
      (await readAll(context, { limit: 1, account: 'acct_b' })).map(({ what }) => what),
    ).toEqual(['w5', 'w3', 'w1']);
    expect(await readAll(context, { limit: 9, key: 'none' })).toEqual([]);
    const { ms } = rows[3] as AuditRow;
    const inTime = await readAll(context, { limit: 9, fromMs: ms, toMs: ms + 1 });
    expect(inTime.every(({ atMs }) => atMs === ms)).toBe(true);
    expect(inTime.map(({ what }) => what)).toContain('w3');
    for (const before of ['1-1', 'x', 'r1.2.3']) {
      const asking = listAudit(context, { limit: 1, before }, WANTED);
      await expect(asking).rejects.toMatchObject({ code: 'invalid_cursor' });
    }
    await audit.close();
  });

  async function enterAudit(
    { books }: QuestionContext,
    rows: readonly AuditRow[],
    last: AuditRow | undefined,
  ) {
    await books.db.insertInto('audit').values(rows).execute();
    const cursor = `${last?.ms}-${last?.seq}`;
    await books.db.updateTable('ingestion').set({ audit_cursor: cursor }).execute();
  }

  async function readAll(context: QuestionContext, query: AuditQuery) {
    const records = [];
    let before: string | undefined;
    do {
      const page = await listAudit(context, { ...query, before }, WANTED);
      expect(page.records.length).toBeLessThanOrEqual(query.limit);
      records.push(...page.records);
      before = page.next ?? undefined;
    } while (before !== undefined);
    return records;
  }
});

describeBooks('the state of the books', (scene) => {
  test('is told of empty books, and of full ones', async () => {
    const context = contextOf(await scene.create(), redis);
    const settings = { keepDays: 90, archive: null };
    const empty = await readStatus(context, settings, WANTED);
    expect(empty).toMatchObject({
      ...{
        engine: scene.engine,
        schema: MIGRATIONS.length,
        books_until: null,
        ingesting_node: null,
        entries: 0,
      },
      days: { open: 0, closed: 0, archived: 0, first: null, last: null },
      ...{
        keep_days: 90,
        archive: null,
        gaps: 0,
        repeats: 0,
        doubtful: 0,
        verified_at: null,
        drifts: null,
      },
    });
    expect(empty.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(empty.size_bytes).toBeGreaterThan(0);

    const { db } = context.books;
    await enter(context.books, [makeEntry({ ms: START_MS }), makeEntry({ ms: Date.now() })]);
    const archived = { day: 20_000, state: 'dropped', verified: null, archive: '{}' } as const;
    await db.insertInto('days').values(archived).execute();
    const verifiedMs = Date.parse('2026-11-20T00:00:00.000Z');
    await keepFact(context.books.db, 'verified', {
      verified_ms: verifiedMs,
      drifts: 2,
      unsettled: 0,
    });
    const full = await readStatus(context, { keepDays: 30, archive: 'folder' }, WANTED);
    expect(full).toMatchObject({
      entries: 2,
      days: { archived: 1, first: '2024-10-04' },
      ...{ keep_days: 30, archive: 'folder' },
      ...{ verified_at: '2026-11-20T00:00:00.000Z', drifts: 2 },
    });
    expect(full.days.open + full.days.closed).toBe(2);
    expect(full.days.open).toBeGreaterThan(0);
  });

  test('is unavailable before there are books, and after they are closed', async () => {
    const books = scene.open(await scene.createTarget());
    const ask = () =>
      readStatus(contextOf(books, redis), { keepDays: 1, archive: null }, WANTED).catch(
        (error: unknown) => {
          throw explainOutage(error);
        },
      );
    await expect(ask()).rejects.toMatchObject({ code: 'books_unavailable' });
    await books.close();
    await expect(ask()).rejects.toMatchObject({ code: 'books_unavailable' });
  });
});
