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
  const drift = { day: '2026-11-01', table: 'usage_months', column: 'charged' };

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

  it('leaves a month alone that is being closed', async () => {
    const books = await createClosed();
    await books.db.updateTable('closed_months').set({ entries: null }).execute();
    await change(books, 'key_a', 7);
    expect(await check(books)).toEqual([]);
  });
});
