import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { bindAnswers } from '../../../src/bookkeeping/answers.ts';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import type { Books } from '../../../src/books/engine/books.ts';
import { entriesOf, msOfDay } from '../../../src/books/engine/days.ts';
import type { EntryRow } from '../../../src/books/engine/tables.ts';
import { listEntries } from '../../../src/books/questions/entries/list-entries.ts';
import type { EntriesQuery } from '../../../src/books/questions/entries/read-pages.ts';
import { readFacts } from '../../../src/books/questions/read-facts.ts';
import { findReceipt } from '../../../src/books/questions/receipts/find-receipt.ts';
import { createRowBudget, ROWS_HELD_MAX } from '../../../src/books/questions/row-budget.ts';
import { readUsage } from '../../../src/books/questions/usage/read-usage.ts';
import { createLiveDays } from '../../../src/books/retention/live-days.ts';
import { openDaysOf } from '../../../src/books/writing/known-days.ts';
import { createRequestIdMint } from '../../../src/lib/request-id.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { describeBooks, makeEntry } from '../books-scene.ts';
import { enter, WANTED } from '../questions/questions-scene.ts';
import { useRedis } from '../use-redis.ts';
import { entriesOfDay, noteProgress, readStates, retain, TODAY } from './retention-scene.ts';

const ARCHIVED = TODAY - 5;
const mintRequestId = createRequestIdMint(randomBytes);
const redis = useRedis();

describeBooks('days whose entries are in the archive', ({ create }) => {
  const contextOf = (books: Books) => ({
    ...{ books, connection: redis.connection },
    clock: { nowMs: () => msOfDay(TODAY) },
    share: createRowBudget(ROWS_HELD_MAX).open(),
  });

  /** One day is archived, and open again for a late entry, if it is so asked. */
  const createArchived = async (isOpenAgain: boolean) => {
    const books = await create();
    const ofOther = { account: 'acct_other', key: 'key_other' };
    await enter(books, entriesOfDay(ARCHIVED, 30));
    await enter(books, [...entriesOfDay(TODAY, 2), ...entriesOfDay(TODAY, 3, ofOther)]);
    await noteProgress(books, redis.connection);
    const place = createFolderPlace(createTempDir());
    await retain({ books, connection: redis.connection, place });
    if (isOpenAgain) await enter(books, entriesOfDay(ARCHIVED, 1, { bucket: 9 }));
    const state = isOpenAgain ? 'open' : 'dropped';
    expect(await readStates(books)).toEqual({ '-5': state, '0': 'open' });
    return books;
  };

  it.each([false, true])('are told as such, also when open again: %s', async (isOpenAgain) => {
    const context = contextOf(await createArchived(isOpenAgain));
    const old = mintRequestId(msOfDay(ARCHIVED) + 3_600_000);
    await expect(findReceipt(context, old, WANTED)).rejects.toMatchObject({
      code: 'request_archived',
      message: expect.stringContaining(`request = '${old}'`),
    });
    const [fromMs, toMs] = [msOfDay(ARCHIVED), msOfDay(TODAY)];
    const byUser = { by: ['end_user'] as const, fromMs, toMs, rowsMax: 100 };
    const sum = readUsage(context, byUser, WANTED);
    await expect(sum.next()).rejects.toMatchObject({ code: 'entries_dropped' });
  });

  it('are known without their manifests, which are long', async () => {
    const books = await createArchived(true);
    const columns = new Set<string>();
    const db = books.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        for (const row of result.rows) for (const name of Object.keys(row)) columns.add(name);
        return result;
      },
    });
    const read = { ...books, db };
    expect((await openDaysOf(read, { entries: [] })).missing).toEqual(new Set([ARCHIVED]));
    expect(await readFacts(read)).toMatchObject({ archivedDays: 1, daysKept: [ARCHIVED, TODAY] });
    expect(await createLiveDays(read).list()).toEqual([
      { day: ARCHIVED, has: 'rest' },
      { day: TODAY, has: 'all' },
    ]);
    expect(columns).toContain('state');
    expect(columns).not.toContain('archive');
  });

  it('are told as such where only the end of a request is not there, or its beginning', async () => {
    const books = await createArchived(true);
    let seq = 100;
    const receiptOf = async (...kinds: readonly EntryRow['kind'][]) => {
      const ms = msOfDay(ARCHIVED) + 3_600_000;
      const request = mintRequestId(ms);
      const entries = kinds.map((kind, n) =>
        makeEntry({ bucket: 10, kind, request, ms: ms + 1_000 + n, seq: seq++ }),
      );
      // They came late, and were found to be in no archive.
      await books.db.insertInto(entriesOf(ARCHIVED)).values(entries).execute();
      return findReceipt(contextOf(books), request, WANTED);
    };
    const archived = { code: 'request_archived' };
    await expect(receiptOf('late')).rejects.toMatchObject(archived);
    await expect(receiptOf('expired')).rejects.toMatchObject(archived);
    expect(await receiptOf('charge')).toMatchObject({ kind: 'charge' });
    expect(await receiptOf('expired', 'late')).toMatchObject({ kind: 'late' });
  });

  it.each([false, true])('end the ledger with what is missing, open again: %s', async (again) => {
    const context = contextOf(await createArchived(again));
    const readLast = async (query: EntriesQuery) => {
      let text = '';
      for await (const part of listEntries(context, query, WANTED)) text += part;
      return JSON.parse(text.trim().split('\n').at(-1) ?? '');
    };
    const archived = { archived_days: 1, archived_until: '2026-11-15' };
    const incomplete = { damaged_lines: 0, gaps: 0, doubtful: again ? 1 : 0, ...archived };
    expect(await readLast({})).toEqual({ incomplete });
    expect(await readLast({ account: 'acct_a' })).toEqual({ incomplete });
    expect(await readLast({ fromMs: msOfDay(ARCHIVED + 1) - 1 })).toEqual({
      incomplete: { ...incomplete, doubtful: 0 },
    });
    const isEntry = { kind: 'charge' };
    expect(await readLast({ fromMs: msOfDay(ARCHIVED + 1) })).toMatchObject(isEntry);
    expect(await readLast({ account: 'acct_other' })).toMatchObject(isEntry);
  });

  it('are told as such when they leave while they are read', async () => {
    const books = await create();
    await enter(books, entriesOfDay(TODAY, 3));
    const { listEntries: list } = bindAnswers(contextOf(books), createRowBudget(ROWS_HELD_MAX));
    if (list === undefined) throw new Error('it is a question');
    await sql`drop table ${sql.table(entriesOf(TODAY))}`.execute(books.db);
    const read = async () => {
      for await (const _ of list({} as never, WANTED) as AsyncIterable<string>);
    };
    await expect(read()).rejects.toMatchObject({
      code: 'entries_dropped',
      message: 'the entries of 2026-11-20 went to the archive while they were read: ask again',
    });
  });
});
