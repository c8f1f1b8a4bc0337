import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import type { ArchiveStore } from '../../../src/books/archive/archive-store.ts';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import { readManifest } from '../../../src/books/archive/manifest.ts';
import type { Books } from '../../../src/books/engine/books.ts';
import { entriesOf, msOfDay } from '../../../src/books/engine/days.ts';
import type { EntryRow } from '../../../src/books/engine/tables.ts';
import { checkDays } from '../../../src/books/verify/check-days.ts';
import { createRequestIdMint } from '../../../src/lib/request-id.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { describeBooks } from '../books-scene.ts';
import { enter } from '../questions/questions-scene.ts';
import { useRedis } from '../use-redis.ts';
import {
  countTable,
  entriesOfDay,
  listFiles,
  readStates,
  retain,
  sumEntries,
  sumEverything,
  TODAY,
  tellProgress,
} from './retention-scene.ts';

const redis = useRedis();
const mintRequestId = createRequestIdMint(randomBytes);
const OLD = TODAY - 5;

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
    archived = entriesOfDay(OLD, 100).map((entry) => ({
      ...entry,
      request: mintRequestId(entry.ms),
    }));
    await enter(books, [...archived, ...today]);
    await tellProgress(books, redis.connection);
    await run();
  });
  const run = () => retain({ books, connection: redis.connection, place });
  const readAll = (table: 'repeats' | 'unchecked') =>
    books.db.selectFrom(table).selectAll().execute();
  const readTotals = async () => {
    const read = books.db.selectFrom('account_totals').select(['entries', 'charged']);
    return await read.executeTakeFirstOrThrow();
  };
  const expectAsBefore = async () => {
    const all = sumEntries([...archived, ...today]);
    expect(await sumEverything(books, place)).toEqual(all);
    expect(await readTotals()).toEqual(all);
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

  it('do not count if they came on the same day', async () => {
    await enter(books, [{ ...first(), seq: 500 }]);
    expect((await run()).failures).toEqual([]);
    await expectAsBefore();
    expect(await readAll('repeats')).toMatchObject([{ seq: 500, fate: 'second' }]);
    expect(await readStates(books)).toMatchObject({ '-5': 'dropped' });
    expect((await readManifest(place, OLD))?.rows).toBe(100);
  });

  it('do not count if they came on a later day', async () => {
    await enter(books, [{ ...first(), ms: msOfDay(TODAY) + 5, seq: 500 }]);
    expect(await readAll('unchecked')).toMatchObject([{ day: OLD, seq: 500 }]);
    expect((await run()).failures).toEqual([]);
    await expectAsBefore();
    expect(await countTable(books, TODAY)).toBe(today.length);
    expect(await readAll('repeats')).toMatchObject([{ seq: 500, fate: 'second' }]);
  });

  it('do not count if they are the archived entries themselves, entered again', async () => {
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

  it('keep their own day in the books while the archive cannot be read', async () => {
    await enter(books, [{ ...first(), seq: 500 }]);
    for (const path of listFiles(folder)) if (path.endsWith('part-0.parquet')) rmSync(path);
    const { archived: days, failures } = await run();
    expect(days).toEqual([]);
    expect(failures).toEqual([
      expect.stringContaining('is missing'),
      expect.stringContaining('must be compared'),
    ]);
    expect(await readAll('unchecked')).toHaveLength(1);
    expect(await countTable(books, OLD)).toBe(1);
  });

  it('do not go into the archive if they come while their day is archived', async () => {
    const other = entriesOfDay(OLD + 1, 20);
    await enter(books, other);
    const late = { ...first(), ms: msOfDay(OLD + 1) + 5, seq: 500 };
    const putFile: ArchiveStore['putFile'] = async (name, file) => {
      if (!(await countRow(late))) await enter(books, [late]);
      await place.putFile(name, file);
    };
    const connection = redis.connection;
    const { failures } = await retain({ books, connection, place: { ...place, putFile } });
    expect(failures).toEqual([expect.stringContaining('must be compared')]);
    expect((await run()).failures).toEqual([]);
    archived = [...archived, ...other];
    await expectAsBefore();
    expect((await readManifest(place, OLD + 1))?.rows).toBe(20);
  });

  const countRow = async ({ ms, seq }: EntryRow) => {
    const found = await books.db
      .selectFrom(entriesOf(OLD + 1))
      .select('seq')
      .where('ms', '=', ms)
      .where('seq', '=', seq)
      .execute();
    return found.length > 0;
  };
});
