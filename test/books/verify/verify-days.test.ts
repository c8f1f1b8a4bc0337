import { type KyselyPlugin, sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { dayOfMs, entriesOf, hourOfMs, msOfDay } from '../../../src/books/engine/days.ts';
import { migrateBooks } from '../../../src/books/engine/migrate-books.ts';
import type { EntryRow } from '../../../src/books/engine/tables.ts';
import { checkDays } from '../../../src/books/verify/check-days.ts';
import { checkTotals } from '../../../src/books/verify/check-totals.ts';
import { readIngestion, writeBatch } from '../../../src/books/writing/write-batch.ts';
import { DAY_MS } from '../../../src/lib/units/time-units.ts';
import { describeBooks, makeEntry, makePayment } from '../books-scene.ts';

const DAY = dayOfMs(makeEntry().ms);
const NAME = '2026-11-20';
const NEXT_WEEK_MS = msOfDay(DAY + 7);

describeBooks('verifying the sums of the books', (scene) => {
  const context = { isLost: async () => true, nowMs: NEXT_WEEK_MS + 1 };
  const enter = async (books: Books, entries: readonly EntryRow[]) => {
    const { version, cursors } = await readIngestion(books);
    const rest = { payments: [makePayment()], damaged: [], gaps: [] };
    await writeBatch(books, { version, cursors, entries, ...rest }, context);
  };
  const createFilled = async () => {
    const books = await scene.create();
    await enter(books, [
      ...[makeEntry(), makeEntry({ seq: 1, model: 'other', upstream: null, outcome: 'failed' })],
      ...[makeEntry({ seq: 2, kind: 'late', cost: null, estimated: null, group: 'g' })],
      makeEntry({ seq: 3, kind: 'refused', bucket: 256, charged: 0, held: 0 }),
      makeEntry({ ms: makeEntry().ms + 86_400_000, key: 'key_b', account: 'acct_b' }),
    ]);
    return books;
  };
  const check = (books: Books, { isFull = false, nowMs = NEXT_WEEK_MS, problem = '' } = {}) =>
    checkDays({
      ...{ books, isFull, clock: { nowMs: () => nowMs }, onHour: () => {} },
      verifyArchivedDay: async (day) => (problem === '' ? [] : [`${day}: ${problem}`]),
    });
  const checkAllTotals = (books: Books) =>
    checkTotals({ ...{ books, accountsMax: 1, daysMax: 1 }, signal: new AbortController().signal });
  const run = (books: Books, text: string) => sql.raw(text).execute(books.db);
  const drift = (table: string, row: string, column: string, excess: number) => ({
    ...{ day: NAME, table, row, column, excess },
  });

  it('reads a closed day once, and again with --full', async () => {
    const books = await createFilled();
    expect(await check(books)).toMatchObject({ days: 2, daysRead: 2, drifts: [] });
    expect(await check(books)).toMatchObject({ days: 2, daysRead: 0, drifts: [] });
    expect(await check(books, { isFull: true })).toMatchObject({ daysRead: 2, drifts: [] });
    expect(await checkAllTotals(books)).toEqual([]);
  });

  it('reads a day each time until its requests cannot be settled any more', async () => {
    const books = await createFilled();
    const nowMs = msOfDay(DAY + 1) + 3_600_000;
    expect(await check(books, { nowMs })).toMatchObject({ daysRead: 2 });
    expect(await check(books, { nowMs })).toMatchObject({ daysRead: 2 });
    expect(await check(books, { nowMs: nowMs + 3 * 3_600_000 })).toMatchObject({ daysRead: 2 });
    expect(await check(books, { nowMs: nowMs + 3 * 3_600_000 })).toMatchObject({ daysRead: 1 });
  });

  it('reads a verified day again when entries have come since', async () => {
    const books = await createFilled();
    await check(books);
    await enter(books, [makeEntry({ seq: 9 })]);
    expect(await check(books)).toMatchObject({ daysRead: 1, drifts: [] });
    expect(await check(books)).toMatchObject({ daysRead: 0, drifts: [] });
  });

  it('names the account whose hours do not follow from its entries', async () => {
    const books = await createFilled();
    await run(books, `update ${entriesOf(DAY)} set charged = 501 where seq = 0`);
    const { drifts } = await check(books);
    const row = 'acct_a key_a llm-opus-4.7 main';
    expect(drifts).toEqual([
      drift('usage_hours', row, 'charged', -1),
      drift('usage_hours', row, 'charged_with_cost', -1),
    ]);
    // What does not agree is read again.
    expect((await check(books)).drifts).toHaveLength(2);
  });

  it('finds an hour without entries, and an entry without an hour', async () => {
    const books = await createFilled();
    await run(books, `delete from ${entriesOf(DAY)} where seq = 1`);
    const hour = hourOfMs(makeEntry().ms);
    await run(books, `delete from usage_hours where hour = ${hour} and "group" = 'g'`);
    const { drifts } = await check(books);
    expect(drifts).toContainEqual(drift('usage_hours', 'acct_a key_a other', 'entries', 1));
    expect(drifts).toContainEqual(
      drift('usage_hours', 'acct_a key_a llm-opus-4.7 main g', 'charged', -500),
    );
  });

  it.each([
    [
      'usage_days',
      'acct_a key_a llm-opus-4.7 main',
      `day = ${DAY} and model like 'llm%' and "group" = ''`,
    ],
    ['account_days', 'acct_a', `day = ${DAY}`],
    ['fleet_hours', `${hourOfMs(makeEntry().ms)} other`, `model = 'other'`],
  ])('finds a sum of %s that was changed', async (table, row, where) => {
    const books = await createFilled();
    await run(books, `update ${table} set output = output + 3 where ${where}`);
    expect((await check(books)).drifts).toContainEqual(drift(table, row, 'output', 3));
  });

  it('finds entries of a verified day that were exchanged', async () => {
    const books = await createFilled();
    await check(books);
    await run(books, `update ${entriesOf(DAY)} set seq = 7 where seq = 0`);
    expect((await check(books)).drifts).toEqual([]);
    const { drifts } = await check(books, { isFull: true });
    expect(drifts).toEqual([drift('entries', '', 'checksum', expect.any(Number) as never)]);
  });

  it('takes no offence at an entry that has given way to another', async () => {
    const books = await createFilled();
    const lost = makeEntry({ seq: 5 });
    await enter(books, [lost]);
    await check(books);
    await enter(books, [{ ...lost, seq: 6 }]);
    expect(await check(books, { isFull: true })).toMatchObject({ daysRead: 2, drifts: [] });
  });

  it('finds totals and months that do not follow from the days', async () => {
    const books = await createFilled();
    await run(
      books,
      `update account_totals set entries = entries + 1, paid = paid - 5 where account = 'acct_a'`,
    );
    await run(books, `update key_months set charged = charged + 2 where "key" = 'key_b'`);
    const ofAll = { day: null, row: 'acct_a', table: 'account_totals' };
    expect(await checkAllTotals(books)).toEqual([
      { ...ofAll, column: 'entries', excess: 1 },
      { ...ofAll, column: 'paid', excess: -5 },
      { day: null, table: 'key_months', row: 'acct_b', column: 'charged', excess: 2 },
    ]);
  });

  it('finds days of an account that has no total', async () => {
    const books = await createFilled();
    await run(books, `delete from account_totals where account = 'acct_b'`);
    const ofAll = { day: null, row: 'acct_b', table: 'account_totals' };
    expect(await checkAllTotals(books)).toEqual([
      { ...ofAll, column: 'entries', excess: -1 },
      { ...ofAll, column: 'charged', excess: -500 },
    ]);
  });

  it('takes no offence at entries that come to an old day while it compares', async () => {
    const target = await scene.createTarget();
    const [books, others] = [scene.open(target), scene.open(target)];
    await migrateBooks(books, NEXT_WEEK_MS);
    const days = [0, 1, 2].map((day) => makeEntry({ ms: makeEntry().ms + day * DAY_MS, seq: day }));
    await enter(books, days);
    let isLate = false;
    const enterLate: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (!isLate && result.rows.some((row) => 'monthly' in row)) {
          isLate = true;
          await enter(others, [makeEntry({ seq: 9 })]);
        }
        return result;
      },
    };
    const { db, ...rest } = books;
    expect(await checkAllTotals({ ...rest, db: db.withPlugin(enterLate) })).toEqual([]);
    expect(isLate).toBe(true);
  });

  it('shows so many accounts whose totals are wrong, and no more', async () => {
    const books = await scene.create();
    const accounts = Array.from({ length: 25 }, (_, seq) => `acct_${seq + 10}`);
    await enter(
      books,
      accounts.map((account, seq) => makeEntry({ account, seq })),
    );
    await run(books, `update account_totals set charged = charged + 1 where account <> 'acct_a'`);
    await run(books, `update key_months set charged = charged - 1 where account = 'acct_34'`);
    const signal = new AbortController().signal;
    for (const accountsMax of [3, 1_000]) {
      const drifts = await checkTotals({ books, signal, accountsMax });
      expect(drifts.filter(({ table }) => table === 'account_totals')).toHaveLength(20);
      expect(drifts.filter(({ table }) => table === 'key_months')).toMatchObject([
        { row: 'acct_34', excess: -1 },
      ]);
    }
  });

  it('finds a day whose table nobody knows', async () => {
    const books = await createFilled();
    await run(books, `delete from days where day = ${DAY}`);
    expect((await check(books)).drifts).toEqual([drift('account_days', '', 'entries', 3)]);
  });

  it('compares a dropped day with its manifest, and with --full with its archive', async () => {
    const books = await createFilled();
    await check(books);
    const manifest = { rows: 4, held: '2700', charged: '1500', short: '0' };
    const drop = (archive: object) =>
      books.db
        .updateTable('days')
        .set({ state: 'dropped', archive: JSON.stringify(archive) })
        .where('day', '=', DAY)
        .execute();
    await drop(manifest);
    await run(books, `drop table ${entriesOf(DAY)}`);
    expect(await check(books)).toMatchObject({ daysRead: 0, drifts: [] });
    expect(await check(books, { isFull: true })).toMatchObject({ daysRead: 2, drifts: [] });
    const { archiveProblems } = await check(books, { isFull: true, problem: 'it is missing' });
    expect(archiveProblems).toEqual([`${DAY}: it is missing`]);
    await drop({ ...manifest, rows: 3 });
    expect((await check(books)).drifts).toEqual([drift('archive', '', 'rows', -1)]);
  });
});
