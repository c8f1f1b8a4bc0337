import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import {
  closeMonth,
  findMonthToClose,
  listClosedMonths,
  openUnlikeMonths,
} from '../../../src/books/duties/close-month.ts';
import type { Books } from '../../../src/books/engine/books.ts';
import { dayOfMs } from '../../../src/books/engine/days.ts';
import type { EntryRow } from '../../../src/books/engine/tables.ts';
import { sumUsage } from '../../../src/books/questions/usage/sum-usage.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks, makeEntry } from '../books-scene.ts';
import { useRedis } from '../use-redis.ts';
import { contextOf, enter, WANTED } from './questions-scene.ts';
import {
  type AnyQuery,
  anyQuery,
  comparable,
  makeEntries,
  START_MS,
  sumNaively,
} from './usage-scene.ts';

const redis = useRedis();
const RUNS = 30;
/** Makes five months of the five days of `makeEntries`. */
const STRETCH = 28;
const MONTHS = ['202610', '202611', '202612', '202701', '202702'];

const stretch = (ms: number) => START_MS + (ms - START_MS) * STRETCH;
const monthStart = fc.integer({ min: 9, max: 15 }).map((month) => Date.UTC(2026, month, 1));
const moment = (ms: number | undefined) =>
  ms === undefined ? fc.constant(undefined) : fc.oneof(fc.constant(stretch(ms)), monthStart);
const monthsQuery: fc.Arbitrary<AnyQuery> = anyQuery.chain((query) =>
  fc
    .record({ fromMs: moment(query.fromMs), toMs: moment(query.toMs) })
    .map((span) => ({ ...query, ...span })),
);

const makeStretched = () =>
  makeEntries(500, 3).map((entry) => ({ ...entry, ms: stretch(entry.ms) }));
const inMonth = (month: string, seq: number): EntryRow =>
  makeEntry({ seq, ms: Date.parse(`2026-${month}-15T00:00:00Z`) });

const dayOf = (date: string) => dayOfMs(Date.parse(date));
const AFTER_ALL = dayOf('2027-03-01');
const IN_JANUARY = dayOf('2027-01-10');

async function closeMonths(books: Books, beforeDay: number): Promise<void> {
  for (;;) {
    const month = await findMonthToClose(books, beforeDay);
    if (month === undefined) return;
    await closeMonth(books, month, WANTED);
  }
}

/** Books in which something happens as soon as a closing has ended so many transactions. */
function whenSummedUp(books: Books, happen: () => Promise<unknown>, transactions = 2): Books {
  let ended = 0;
  const db = new Proxy(books.db, {
    get(target, name) {
      if (name !== 'transaction') return Reflect.get(target, name).bind(target);
      const execute: ReturnType<typeof target.transaction>['execute'] = async (work) => {
        const result = await target.transaction().execute(work);
        ended++;
        // The first one notes that the month is being closed, the second sums it up.
        if (ended === transactions) await happen();
        return result;
      };
      return () => ({ execute });
    },
  });
  return { ...books, db } as Books;
}

/** Books in which something happens between what a transaction does and its end. */
function beforeCommit(books: Books, happen: () => Promise<unknown>): Books {
  const execute: ReturnType<Books['db']['transaction']>['execute'] = (work) =>
    books.db.transaction().execute(async (tx) => {
      const result = await work(tx);
      await happen();
      return result;
    });
  const db = new Proxy(books.db, {
    get: (target, name) =>
      name === 'transaction' ? () => ({ execute }) : Reflect.get(target, name).bind(target),
  });
  return { ...books, db } as Books;
}

async function countWaiting({ db }: Books): Promise<number> {
  const { rows } = await sql`
    select 1 from pg_locks where relation = 'closed_months'::regclass and not granted`.execute(db);
  return rows.length;
}

describeBooks('closed months', (scene) => {
  const sum = (books: Books, query: AnyQuery) => sumUsage(contextOf(books, redis), query, WANTED);
  const createClosed = async (entries: readonly EntryRow[], beforeDay = IN_JANUARY) => {
    const books = await scene.create();
    await enter(books, entries);
    await closeMonths(books, beforeDay);
    return books;
  };
  const countRequests = async (books: Books) => (await sum(books, { by: ['key'] })).total.requests;

  test('have the usage of their entries, by any groups, filters and times', async () => {
    const entries = makeStretched();
    const books = await createClosed(entries, AFTER_ALL);
    expect(await listClosedMonths(books)).toEqual(MONTHS);

    await fc.assert(
      fc.asyncProperty(monthsQuery, async (query) => {
        const { data, total } = await sum(books, query);
        const naive = sumNaively(entries, query);
        expect(comparable(data)).toEqual(comparable(naive.rows));
        expect(total).toEqual(naive.total);
      }),
      { numRuns: RUNS },
    );
  });

  test('answer for their keys and models without their days', async () => {
    const entries = makeStretched().filter(({ ms }) => dayOfMs(ms) < AFTER_ALL);
    const books = await createClosed(entries, AFTER_ALL);
    await books.db.deleteFrom('usage_days').execute();
    await books.db.deleteFrom('usage_hours').execute();
    for (const by of [['key'], ['group', 'model'], ['account', 'upstream']] as const) {
      const naive = sumNaively(entries, { by });
      expect(comparable((await sum(books, { by })).data)).toEqual(comparable(naive.rows));
    }
  });

  test('are opened by an entry that comes late, and closed again with it', async () => {
    const books = await createClosed([inMonth('10', 0), inMonth('11', 1), inMonth('12', 2)]);
    await enter(books, [inMonth('11', 3)]);
    expect(await listClosedMonths(books)).toEqual(['202610', '202612']);
    expect(await countRequests(books)).toBe(4);
    await closeMonths(books, IN_JANUARY);
    expect(await listClosedMonths(books)).toEqual(['202610', '202611', '202612']);
    expect(await countRequests(books)).toBe(4);
  });

  test('stay open if an entry comes while they are being closed', async () => {
    const books = await scene.create();
    await enter(books, [inMonth('10', 0)]);
    await closeMonth(
      whenSummedUp(books, () => enter(books, [inMonth('10', 1)])),
      '202610',
      WANTED,
    );
    expect(await listClosedMonths(books)).toEqual([]);
    expect(await findMonthToClose(books, AFTER_ALL)).toBe('202610');
    await closeMonths(books, IN_JANUARY);
    expect(await countRequests(books)).toBe(2);
  });

  // A file has one transaction at a time.
  test.runIf(scene.engine === 'postgres')('have what was about to be written', async () => {
    const books = await scene.create();
    await enter(books, [inMonth('10', 0)]);
    let closing: Promise<unknown> | undefined;
    const begin = async () => {
      let hasEnded = false;
      closing = closeMonth(books, '202610', WANTED).finally(() => {
        hasEnded = true;
      });
      await waitUntil(async () => hasEnded || (await countWaiting(books)) > 0, 'the closing waits');
    };
    await enter(beforeCommit(books, begin), [inMonth('10', 1)]);
    await closing;
    expect(await listClosedMonths(books)).toEqual(['202610']);
    expect(await countRequests(books)).toBe(2);
  });

  test('are not closed by a node whose closing another one has taken over', async () => {
    const books = await scene.create();
    await enter(books, [inMonth('10', 0)]);
    const ended = new AbortController();
    const takeOver = async () => {
      await enter(books, [inMonth('10', 1)]);
      const begun = whenSummedUp(books, async () => ended.abort(), 1);
      await expect(closeMonth(begun, '202610', ended.signal)).rejects.toThrow();
    };
    await closeMonth(whenSummedUp(books, takeOver), '202610', WANTED);
    expect(ended.signal.aborted).toBe(true);
    expect(await listClosedMonths(books)).toEqual([]);
    await closeMonths(books, IN_JANUARY);
    expect(await countRequests(books)).toBe(2);
  });

  test('are opened if a node of an earlier version has written to them', async () => {
    const books = await createClosed([inMonth('10', 0), inMonth('11', 1)]);
    await openUnlikeMonths(books);
    expect(await listClosedMonths(books)).toEqual(['202610', '202611']);
    const hour = dayOfMs(inMonth('10', 0).ms) * 24;
    await books.db
      .updateTable('fleet_hours')
      // Such as an entry that took the place of another one.
      .set((eb) => ({ charged: eb('charged', '+', 1) }))
      .where('hour', '=', hour)
      .execute();
    await openUnlikeMonths(books);
    expect(await listClosedMonths(books)).toEqual(['202611']);
  });

  test('are closed in order if they have usage, and not before they have ended', async () => {
    const books = await scene.create();
    expect(await findMonthToClose(books, AFTER_ALL)).toBe(undefined);
    await enter(books, [inMonth('10', 0), inMonth('12', 1)]);
    expect(await findMonthToClose(books, dayOf('2026-10-31'))).toBe(undefined);
    expect(await findMonthToClose(books, dayOf('2026-11-01'))).toBe('202610');
    expect(await findMonthToClose(books, AFTER_ALL, '202610')).toBe('202612');
    await closeMonth(books, '202610', WANTED);
    expect(await findMonthToClose(books, dayOf('2026-12-31'))).toBe(undefined);
    expect(await findMonthToClose(books, dayOf('2027-01-01'))).toBe('202612');
    await closeMonth(books, '202612', WANTED);
    expect(await findMonthToClose(books, AFTER_ALL)).toBe(undefined);
    expect(await findMonthToClose(books, AFTER_ALL, '202612')).toBe(undefined);
  });
});
