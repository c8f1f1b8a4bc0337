import { expect, onTestFinished, test, vi } from 'vitest';
import { createMonthCloser } from '../../src/bookkeeping/create-month-closer.ts';
import { listClosedMonths } from '../../src/books/duties/close-month.ts';
import type { Books } from '../../src/books/engine/books.ts';
import { describeBooks, makeEntry } from '../books/books-scene.ts';
import { enter } from '../books/questions/questions-scene.ts';
import { createMemoryLog } from '../support/memory-log.ts';

const AFTER_NOVEMBER_MS = Date.parse('2026-12-04T00:00:00Z');
const AGAIN_MS = 600_000;

describeBooks('months that are over', (scene) => {
  const createScene = async () => {
    const books = await scene.create();
    await enter(books, [makeEntry()]);
    const log = createMemoryLog();
    let state = { untilMs: 0, isIngesting: true, failure: undefined };
    const { signal } = new AbortController();
    const withPatience = vi.fn((work: (patient: Books) => Promise<void>) => work(books));
    const ingester = () => ({ state: () => state });
    const close = createMonthCloser({ books, signal, withPatience }, ingester, log);
    return {
      ...{ books, log, withPatience },
      closeAt: async (untilMs: number, isIngesting = true) => {
        state = { ...state, untilMs, isIngesting };
        await close();
        return await listClosedMonths(books);
      },
    };
  };

  test('are closed three days later, by the node that writes the books', async () => {
    const { log, closeAt } = await createScene();
    expect(await closeAt(AFTER_NOVEMBER_MS - 1)).toEqual([]);
    expect(await closeAt(AFTER_NOVEMBER_MS, false)).toEqual([]);
    expect(await closeAt(AFTER_NOVEMBER_MS)).toEqual(['202611']);
    expect(await closeAt(AFTER_NOVEMBER_MS)).toEqual(['202611']);
    expect(log.lines).toEqual([]);
  });

  test('are compared with what an earlier version wrote meanwhile, and closed again', async () => {
    const { books, closeAt } = await createScene();
    await closeAt(AFTER_NOVEMBER_MS);
    await books.db.deleteFrom('usage_months').execute();
    await closeAt(AFTER_NOVEMBER_MS);
    expect(await books.db.selectFrom('usage_months').selectAll().execute()).toEqual([]);
    await books.db.updateTable('fleet_hours').set({ charged: 2 }).execute();
    expect(await closeAt(AFTER_NOVEMBER_MS)).toEqual(['202611']);
    const [row] = await books.db.selectFrom('usage_months').selectAll().execute();
    expect(row).toMatchObject({ month: '202611', account: 'acct_a', entries: 1 });
  });

  test('are closed while an earlier one cannot be, which is tried again after them', async () => {
    const { books, log, withPatience, closeAt } = await createScene();
    await enter(books, [makeEntry({ seq: 1, ms: Date.parse('2026-10-15T00:00:00Z') })]);
    const nowMs = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => nowMs.mockRestore());
    withPatience.mockRejectedValueOnce(new Error('another has the table'));
    expect(await closeAt(AFTER_NOVEMBER_MS)).toEqual([]);
    nowMs.mockReturnValue(AGAIN_MS);
    expect(await closeAt(AFTER_NOVEMBER_MS)).toEqual(['202611']);
    expect(await closeAt(AFTER_NOVEMBER_MS)).toEqual(['202611']);
    expect(await closeAt(AFTER_NOVEMBER_MS)).toEqual(['202610', '202611']);
    expect(log.lines).toMatchObject([{ level: 'warn' }]);
  });

  test('are not tried again at once when they cannot be closed', async () => {
    const { books, log, closeAt } = await createScene();
    await books.db.schema.dropTable('usage_months').execute();
    for (let i = 0; i < 2; i++) expect(await closeAt(AFTER_NOVEMBER_MS)).toEqual([]);
    expect(log.lines).toMatchObject([{ level: 'warn' }]);
  });
});
