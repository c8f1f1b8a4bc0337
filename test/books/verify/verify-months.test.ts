import { expect, it } from 'vitest';
import { closeMonth, listClosedMonths } from '../../../src/books/duties/close-month.ts';
import type { Books } from '../../../src/books/engine/books.ts';
import { checkMonths } from '../../../src/books/verify/check-months.ts';
import { describeBooks, makeEntry } from '../books-scene.ts';
import { enter, WANTED } from '../questions/questions-scene.ts';

describeBooks('verifying the sums of closed months', (scene) => {
  const createClosed = async () => {
    const books = await scene.create();
    await enter(books, [makeEntry(), makeEntry({ seq: 1, key: 'key_b' })]);
    await closeMonth(books, '202611', WANTED);
    return books;
  };
  const check = (books: Books, isFull = false) =>
    checkMonths({ books, isFull, clock: { nowMs: () => 1 }, signal: WANTED });
  const change = (books: Books, key: string, charged: number) =>
    books.db
      .updateTable('usage_months')
      .set((is) => ({ charged: is('charged', '+', charged) }))
      .where('key', '=', key)
      .execute();
  const drift = { day: '2026-11', table: 'usage_months', column: 'charged' };

  it('finds a sum that is not that of the days, and opens the month', async () => {
    const books = await createClosed();
    await change(books, 'key_a', 7);
    expect(await check(books)).toEqual([{ ...drift, row: 'acct_a', excess: 7 }]);
    expect(await listClosedMonths(books)).toEqual([]);
    await closeMonth(books, '202611', WANTED);
    expect(await check(books)).toEqual([]);
  });

  it('compares a month once, and again with --full by key and model', async () => {
    const books = await createClosed();
    expect(await check(books)).toEqual([]);
    await change(books, 'key_a', 7);
    await change(books, 'key_b', -7);
    expect(await check(books)).toEqual([]);
    expect(await check(books, true)).toMatchObject([
      { ...drift, excess: 7 },
      { ...drift, excess: -7 },
    ]);
    expect(await listClosedMonths(books)).toEqual([]);
  });

  it('compares some accounts at a time', async () => {
    const books = await scene.create();
    const accounts = ['acct_a', 'acct_b', 'acct_c', 'acct_d', 'acct_e'];
    await enter(
      books,
      accounts.map((account, seq) => makeEntry({ account, seq })),
    );
    await closeMonth(books, '202611', WANTED);
    await books.db
      .updateTable('usage_months')
      .set({ charged: 0 })
      .where('account', 'in', ['acct_a', 'acct_e'])
      .execute();
    const options = { books, clock: { nowMs: () => 1 }, signal: WANTED, accountsMax: 2 };
    expect(await checkMonths({ ...options, isFull: true })).toMatchObject([
      { row: expect.stringContaining('acct_a') },
      { row: expect.stringContaining('acct_e') },
    ]);
  });

  it('does not take a month for verified that was closed anew meanwhile', async () => {
    const books = await createClosed();
    const db = new Proxy(books.db, {
      get(target, name) {
        if (name !== 'transaction') return Reflect.get(target, name).bind(target);
        const execute: ReturnType<typeof target.transaction>['execute'] = async (work) => {
          const result = await target.transaction().execute(work);
          await closeMonth(books, '202611', WANTED);
          return result;
        };
        const builder = { setIsolationLevel: () => builder, setAccessMode: () => builder, execute };
        return () => builder;
      },
    });
    expect(await check({ ...books, db } as Books)).toEqual([]);
    const rows = await books.db.selectFrom('closed_months').select('verified_ms').execute();
    expect(rows).toEqual([{ verified_ms: null }]);
  });

  it('leaves a month alone that is being closed', async () => {
    const books = await createClosed();
    await books.db.updateTable('closed_months').set({ sums: null }).execute();
    await change(books, 'key_a', 7);
    expect(await check(books)).toEqual([]);
  });
});
