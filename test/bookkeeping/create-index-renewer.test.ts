import { expect, test } from 'vitest';
import { createIndexRenewer } from '../../src/bookkeeping/create-index-renewer.ts';
import { msOfDay } from '../../src/books/engine/days.ts';
import { openDay } from '../../src/books/engine/migrate-books.ts';
import { describeBooks } from '../books/books-scene.ts';
import { createMemoryLog } from '../support/memory-log.ts';

const DAY = 20_777;
const HOUR_MS = 3_600_000;

describeBooks('days without the indexes of this version', (scene) => {
  const createScene = async () => {
    const books = await scene.create();
    for (const day of [DAY - 1, DAY]) await openDay(books, day);
    await books.db.updateTable('days').set({ indexes: null }).execute();
    const log = createMemoryLog();
    let state = { untilMs: msOfDay(DAY), isIngesting: true, failure: undefined };
    const { signal } = new AbortController();
    const options = {
      books,
      signal,
      withPatience: (work: (patient: typeof books) => Promise<void>) => work(books),
    };
    const renew = createIndexRenewer(options, () => ({ state: () => state }), log);
    const listRenewed = async () => {
      const renewed = books.db.selectFrom('days').select('day').where('indexes', 'is not', null);
      return (await renewed.execute()).map(({ day }) => day);
    };
    const renewAt = async (untilMs: number, isIngesting = true) => {
      state = { ...state, untilMs, isIngesting };
      await renew();
      return await listRenewed();
    };
    return { books, log, renewAt };
  };

  test('get them from the node that writes the books, once nobody writes to them', async () => {
    const { log, renewAt } = await createScene();
    expect(await renewAt(msOfDay(DAY) + 2 * HOUR_MS)).toEqual([]);
    expect(await renewAt(msOfDay(DAY) + 3 * HOUR_MS, false)).toEqual([]);
    expect(await renewAt(msOfDay(DAY) + 3 * HOUR_MS)).toEqual([DAY - 1]);
    expect(await renewAt(msOfDay(DAY) + 3 * HOUR_MS)).toEqual([DAY - 1]);
    expect(log.lines).toEqual([]);
  });

  test('are told when they cannot get them, and not tried again at once', async () => {
    const { books, log, renewAt } = await createScene();
    await books.db.schema.dropTable('entries_20261119').execute();
    await books.db.schema
      .createView('entries_20261119')
      .as(books.db.selectFrom('days').select('day'))
      .execute();
    for (let i = 0; i < 2; i++) expect(await renewAt(msOfDay(DAY + 1))).toEqual([]);
    expect(log.lines).toMatchObject([{ level: 'warn' }]);
  });
});
