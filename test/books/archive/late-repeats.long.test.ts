import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import type { ArchiveStore } from '../../../src/books/archive/archive-store.ts';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import { readManifest } from '../../../src/books/archive/manifest.ts';
import type { Books } from '../../../src/books/engine/books.ts';
import { msOfDay, nameDay } from '../../../src/books/engine/days.ts';
import type { EntryRow } from '../../../src/books/engine/tables.ts';
import { listEntries } from '../../../src/books/questions/entries/list-entries.ts';
import type { EntriesQuery } from '../../../src/books/questions/entries/read-pages.ts';
import { findReceipt } from '../../../src/books/questions/receipts/find-receipt.ts';
import { checkDays } from '../../../src/books/verify/check-days.ts';
import { enterRows } from '../../../src/books/writing/enter-rows.ts';
import { openDaysOf } from '../../../src/books/writing/known-days.ts';
import { createRequestIdMint } from '../../../src/lib/request-id.ts';
import { HOUR_MS } from '../../../src/lib/units/time-units.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { describeBooks } from '../books-scene.ts';
import { contextOf, enter, WANTED } from '../questions/questions-scene.ts';
import { useRedis } from '../use-redis.ts';
import {
  countTable,
  entriesOfDay,
  listFiles,
  noteProgress,
  readStates,
  retain,
  sumEntries,
  sumEverything,
  TODAY,
} from './retention-scene.ts';

const redis = useRedis();
const mintRequestId = createRequestIdMint(randomBytes);
const OLD = TODAY - 5;
const OLD_MS = msOfDay(OLD);

describeBooks('late entries of events that are in the archive', (scene) => {
  let books: Books;
  let folder: string;
  let place: ArchiveStore;
  let archived: readonly EntryRow[];
  const today = entriesOfDay(TODAY, 10);

  /** An archived day whose requests came on that day, and today. */
  beforeEach(async () => {
    books = await scene.create();
    folder = createTempDir();
    place = createFolderPlace(folder);
    archived = entriesOfDay(OLD, 100).map((entry) => {
      const ms = entry.ms + HOUR_MS;
      return { ...entry, ms, request: mintRequestId(ms) };
    });
    await enter(books, [...archived, ...today]);
    await noteProgress(books, redis.connection);
    await run();
  });
  const run = () => retain({ books, connection: redis.connection, place });
  const readAll = (table: 'repeats' | 'doubtful' | 'unchecked') =>
    books.db.selectFrom(table).selectAll().execute();
  const readTotals = async () => {
    const read = books.db.selectFrom('account_totals').select(['entries', 'charged']);
    return await read.executeTakeFirstOrThrow();
  };
  const expectAsBefore = async () => {
    const all = sumEntries([...archived, ...today]);
    expect(await sumEverything(books, place)).toEqual(all);
    expect(await readTotals()).toEqual(all);
    expect(await readAll('doubtful')).toEqual([]);
    expect(await readAll('unchecked')).toEqual([]);
    const clock = { nowMs: () => Date.now() };
    const { drifts } = await checkDays({ books, clock, isFull: true, onHour: () => {} });
    expect(drifts).toEqual([]);
  };
  const first = () => {
    const [entry] = archived;
    if (entry === undefined) throw new Error('there are entries');
    return entry;
  };

  it('count at no time if they came on the same day', async () => {
    await enter(books, [{ ...first(), seq: 500 }]);
    expect(await readTotals()).toEqual(sumEntries([...archived, ...today]));
    expect((await run()).failures).toEqual([]);
    await expectAsBefore();
    expect(await readAll('repeats')).toMatchObject([{ seq: 500, fate: 'second' }]);
    expect(await readStates(books)).toMatchObject({ '-5': 'dropped' });
    expect((await readManifest(place, OLD))?.rows).toBe(100);
  });

  it('count at no time if they came on a later day', async () => {
    await enter(books, [{ ...first(), ms: msOfDay(TODAY) + 5, seq: 500 }]);
    expect(await readAll('doubtful')).toMatchObject([{ since_day: OLD, seq: 500 }]);
    expect(await readTotals()).toEqual(sumEntries([...archived, ...today]));
    expect(await countTable(books, TODAY)).toBe(today.length);
    expect((await run()).failures).toEqual([]);
    await expectAsBefore();
    expect(await countTable(books, TODAY)).toBe(today.length);
    expect(await readAll('repeats')).toMatchObject([{ seq: 500, fate: 'second' }]);
  });

  it('count at no time if they are the archived entries themselves, entered again', async () => {
    const late = { ...first(), request: mintRequestId(first().ms), seq: 900 };
    await enter(books, [...archived, late]);
    expect((await run()).failures).toEqual([]);
    archived = [...archived, late];
    await expectAsBefore();
    expect(await readAll('repeats')).toEqual([]);
    expect((await readManifest(place, OLD))?.rows).toBe(101);
  });

  it('count if the archive has only others of the same request', async () => {
    const late = { ...first(), kind: 'late', ms: msOfDay(TODAY) + 5, seq: 500 } as const;
    await enter(books, [late]);
    expect((await run()).failures).toEqual([]);
    archived = [...archived, late];
    await expectAsBefore();
    expect(await readAll('repeats')).toEqual([]);
  });

  it('wait while the archive of a day cannot be read, and keep no others back', async () => {
    const other = entriesOfDay(OLD + 1, 5);
    await enter(books, other);
    await run();
    const isOld = (path: string) => path.includes(nameDay(OLD)) && path.endsWith('.parquet');
    for (const path of listFiles(folder).filter(isOld)) rmSync(path);
    const late = {
      ...first(),
      ms: msOfDay(TODAY) + 5,
      request: mintRequestId(msOfDay(OLD + 1) + HOUR_MS),
    };
    await enter(books, [
      { ...first(), seq: 500 },
      { ...late, seq: 501 },
    ]);
    expect(await readAll('doubtful')).toHaveLength(2);
    expect((await run()).failures).toContainEqual(expect.stringContaining('is missing'));
    expect(await readAll('doubtful')).toMatchObject([{ seq: 500 }]);
    expect(await readTotals()).toEqual(sumEntries([...archived, ...other, ...today, late]));
  });

  it('of an earlier version, which has entered them, are taken back', async () => {
    const late = { ...first(), ms: msOfDay(TODAY) + 5, seq: 500 };
    const { ms, bucket, seq, request, kind, account } = late;
    await enterAsBefore(books, late);
    await books.db
      .insertInto('unchecked')
      .values({ day: OLD, ms, bucket, seq, request, kind, account })
      .execute();
    expect((await readTotals()).entries).toBe(archived.length + today.length + 1);
    expect((await run()).failures).toEqual([]);
    await expectAsBefore();
    expect(await readAll('repeats')).toMatchObject([{ seq: 500, fate: 'second' }]);
  });

  it('are missing in the ledger, which says so, and have their receipts', async () => {
    const context = contextOf(books, redis);
    const receiptOf = (request: string) => findReceipt(context, request, WANTED);
    const countAside = async (query: EntriesQuery) => {
      let text = '';
      for await (const part of listEntries(context, query, WANTED)) text += part;
      const last = JSON.parse(text.trim().split('\n').at(-1) ?? '');
      return last.incomplete.doubtful;
    };
    const late = {
      ...first(),
      request: mintRequestId(first().ms),
      ms: msOfDay(TODAY) + 5,
      seq: 900,
    };
    const { account, key, request, ms } = late;
    expect(await countAside({})).toBe(0);
    await expect(receiptOf(request)).rejects.toMatchObject({ code: 'request_archived' });
    await enter(books, [late]);
    expect(await countAside({})).toBe(1);
    expect(await countAside({ account, key, fromMs: OLD_MS, toMs: ms + 1 })).toBe(1);
    expect(await countAside({ key: 'key_other' })).toBe(0);
    expect(await countAside({ toMs: ms })).toBe(0);
    const ended = { state: 'ended', ledger: [{ id: `${ms}-900` }] };
    expect(await receiptOf(request)).toMatchObject(ended);
    expect((await run()).failures).toEqual([]);
    expect(await countAside({})).toBe(0);
  });

  it('do not go into the archive if they come while their day is archived', async () => {
    const other = entriesOfDay(OLD + 1, 20);
    await enter(books, other);
    const late = { ...first(), ms: msOfDay(OLD + 1) + 5, seq: 500 };
    const putFile: ArchiveStore['putFile'] = async (name, file) => {
      if ((await readAll('doubtful')).length === 0) await enter(books, [late]);
      await place.putFile(name, file);
    };
    const connection = redis.connection;
    const { failures } = await retain({ books, connection, place: { ...place, putFile } });
    expect(failures).toEqual([]);
    expect(await readAll('doubtful')).toHaveLength(1);
    expect((await run()).failures).toEqual([]);
    archived = [...archived, ...other];
    await expectAsBefore();
    expect((await readManifest(place, OLD + 1))?.rows).toBe(20);
  });
});

/** Before entries were set aside. */
async function enterAsBefore(books: Books, entry: EntryRow): Promise<void> {
  const { tables } = await openDaysOf(books, { entries: [entry] });
  const days = { tables, missing: new Set<number>() };
  await books.db.transaction().execute(async (tx) => {
    const rows = { entries: [entry], payments: [] };
    await enterRows(books.engine, tx, rows, { isLost: async () => false, days, nowMs: 0 });
  });
}
