import { appendFileSync, rmSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import { readManifest } from '../../../src/books/archive/manifest.ts';
import { createS3Place } from '../../../src/books/archive/s3-place.ts';
import { entriesOf, msOfDay } from '../../../src/books/engine/days.ts';
import { openDay } from '../../../src/books/engine/migrate-books.ts';
import { renewIndexes } from '../../../src/books/engine/renew-indexes.ts';
import type { ArchiveProgress } from '../../../src/books/retention/archive-old-days.ts';
import { dropDay, noteArchived } from '../../../src/books/retention/drop-day.ts';
import { checkDays } from '../../../src/books/verify/check-days.ts';
import { ARCHIVER_KEY, BOOKS_KEYS } from '../../../src/redis/redis-keys.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { startS3Server } from '../../support/servers/start-s3-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks } from '../books-scene.ts';
import { enter } from '../questions/questions-scene.ts';
import { useRedis } from '../use-redis.ts';
import {
  countTable,
  entriesOfDay,
  KEEP_MS,
  listFiles,
  noteProgress,
  readStates,
  retain,
  sumEntries,
  sumEverything,
  TODAY,
} from './retention-scene.ts';

const redis = useRedis();

describeBooks('days that are older than books.keep', ({ create, engine }) => {
  /** A day that is due, one that is kept, and today. */
  const createFilled = async () => {
    const books = await create();
    const entries = [
      ...entriesOfDay(TODAY - 5, 100),
      ...entriesOfDay(TODAY - 3, 20),
      ...entriesOfDay(TODAY, 10),
    ];
    await enter(books, entries);
    await noteProgress(books, redis.connection);
    return { books, entries, connection: redis.connection };
  };
  type Filled = Awaited<ReturnType<typeof createFilled>>;
  const checkAll = async (books: Awaited<ReturnType<typeof create>>) => {
    const clock = { nowMs: () => Date.now() };
    return (await checkDays({ books, clock, isFull: true, onHour: () => {} })).drifts;
  };

  it('leave the books for the archive, and a query finds every entry once', async () => {
    const { entries, ...scene } = await createFilled();
    const place = createFolderPlace(createTempDir());
    const before = await sumEverything(scene.books, place);
    expect(await retain({ ...scene, place })).toEqual({ archived: ['2026-11-15'], failures: [] });
    expect(await readStates(scene.books)).toEqual({ '-5': 'dropped', '-3': 'open', '0': 'open' });
    await expect(countTable(scene.books, TODAY - 5)).rejects.toThrow();
    expect((await readManifest(place, TODAY - 5))?.parts).toHaveLength(3);
    expect(await sumEverything(scene.books, place)).toEqual(before);
    expect(before).toEqual(sumEntries(entries));
    expect(await checkAll(scene.books)).toEqual([]);
    expect(await retain({ ...scene, place })).toEqual({ archived: [], failures: [] });
  });

  it('tell how far they are, up to the last entry', async () => {
    const { entries: _, ...scene } = await createFilled();
    const told: ArchiveProgress[] = [];
    const place = createFolderPlace(createTempDir());
    await retain({ ...scene, place, onProgress: (progress) => told.push(progress) });
    const ofDay = { day: TODAY - 5, done: 0, days: 1 };
    expect(told[0]).toEqual({ ...ofDay, rows: 0 });
    expect(told.at(-1)).toEqual({ ...ofDay, rows: 100 });
  });

  it('leave them for a bucket of S3, too', async () => {
    const { entries, ...scene } = await createFilled();
    const place = createS3Place({ ...(await startS3Server()), prefix: 'fleet' });
    expect((await retain({ ...scene, place })).archived).toEqual(['2026-11-15']);
    expect(await sumEverything(scene.books, place)).toEqual(sumEntries(entries));
    await enter(scene.books, entriesOfDay(TODAY - 5, 7, { bucket: 9 }));
    expect((await retain({ ...scene, place })).archived).toEqual(['2026-11-15']);
    expect((await sumEverything(scene.books, place)).entries).toBe(entries.length + 7);
  });

  it('stay while their entries may not all be in the books', async () => {
    const { books, connection } = await createFilled();
    const place = createFolderPlace(createTempDir());
    const closedMs = msOfDay(TODAY - 4) + 3 * 3_600_000;
    await noteProgress(books, connection, closedMs - 1);
    expect((await retain({ books, connection, place })).archived).toEqual([]);
    const nowMs = () => closedMs - 1;
    await noteProgress(books, connection);
    expect(
      (await retain({ books, connection, place, keepMs: 0, clock: { nowMs } })).archived,
    ).toEqual([]);
    await noteProgress(books, connection, closedMs);
    expect((await retain({ books, connection, place, keepMs: 0 })).archived).toEqual([
      '2026-11-15',
    ]);
  });

  it('are no older because the clock of a node is ahead', async () => {
    const { books, connection } = await createFilled();
    await noteProgress(books, connection);
    const place = createFolderPlace(createTempDir());
    const clock = { nowMs: () => msOfDay(TODAY + 100) };
    expect((await retain({ books, connection, place, clock })).archived).toEqual(['2026-11-15']);
  });

  it('stay if the nodes write other books', async () => {
    const { books, connection } = await createFilled();
    const place = createFolderPlace(createTempDir());
    await connection.send('set', [BOOKS_KEYS.id, 'other']);
    await expect(retain({ books, connection, place })).rejects.toThrow('other books');
    await connection.send('del', [BOOKS_KEYS.id]);
    await expect(retain({ books, connection, place })).rejects.toThrow('no node');
  });

  it('are archived by one process at a time', async () => {
    const scene = await createFilled();
    const place = createFolderPlace(createTempDir());
    const runs = await Promise.all([retain({ ...scene, place }), retain({ ...scene, place })]);
    expect(runs.flatMap(({ archived }) => archived)).toEqual(['2026-11-15']);
    expect(await readStates(scene.books)).toMatchObject({ '-5': 'dropped' });
    expect(await redis.connection.send('get', [ARCHIVER_KEY])).toBeNull();
  });

  it('stay if the archive is damaged, until it was written anew', async () => {
    const { entries, ...scene } = await createFilled();
    const folder = createTempDir();
    const place = createFolderPlace(folder);
    const putText = async (name: string, text: string) => {
      await place.putText(name, text);
      const [part = ''] = listFiles(folder).filter((path) => path.includes('part-1-'));
      appendFileSync(part, 'x');
    };
    const { archived, failures } = await retain({ ...scene, place: { ...place, putText } });
    expect([archived, failures]).toEqual([[], [expect.stringContaining('is damaged')]]);
    expect((await retain({ ...scene, place })).failures).toHaveLength(1);
    expect(await readStates(scene.books)).toMatchObject({ '-5': 'open' });
    expect(await sumEverything(scene.books, place)).toEqual(sumEntries(entries));
    for (const path of listFiles(folder)) if (path.endsWith('.json')) rmSync(path);
    expect(await retain({ ...scene, place })).toEqual({ archived: ['2026-11-15'], failures: [] });
    expect(await sumEverything(scene.books, place)).toEqual(sumEntries(entries));
  });

  it('cannot be dropped without an archive that has all of the day', async () => {
    const { books, connection } = await createFilled();
    const day = TODAY - 5;
    await expect(dropDay(books, day)).rejects.toThrow('is not archived');
    const place = createFolderPlace(createTempDir());
    await retain({ books, connection, place });
    const manifest = await readManifest(place, day);
    if (manifest === undefined) throw new Error('the day is archived');
    const other = TODAY - 3;
    await noteArchived(books, { day: other, state: 'open', archive: null }, manifest);
    await expect(dropDay(books, other)).rejects.toThrow('rows, held, charged');
    await sql`update ${sql.table(entriesOf(other))} set charged = charged + 1`.execute(books.db);
    expect(await countTable(books, other)).toBe(20);
  });

  describe.runIf(engine === 'postgres')('while somebody reads them', () => {
    const listWaiting = async (books: Awaited<ReturnType<typeof create>>) => {
      const { rows } = await sql<{ mode: string }>`
        select mode from pg_locks join pg_stat_activity using (pid)
        where datname = current_database() and not granted`.execute(books.db);
      return rows.map(({ mode }) => mode);
    };
    const retainWhileRead = async (then: (scene: Filled) => Promise<unknown>) => {
      const scene = await createFilled();
      const { books, connection } = scene;
      const place = createFolderPlace(createTempDir());
      const isDropperWaiting = async () =>
        (await listWaiting(books)).includes('AccessExclusiveLock');
      const { retained } = await books.db.transaction().execute(async (tx) => {
        await sql`select ms from ${sql.table(entriesOf(TODAY - 5))} limit 1`.execute(tx);
        const retained = retain({ books, connection, place });
        await waitUntil(isDropperWaiting, 'the day is to be dropped');
        await then(scene);
        expect(await isDropperWaiting()).toBe(true);
        return { retained };
      });
      expect(await retained).toEqual({ archived: ['2026-11-15'], failures: [] });
    };

    it('keep nobody from opening another day', async () => {
      await retainWhileRead(({ books }) => openDay(books, TODAY + 1));
    });

    it('are dropped without a deadlock if they are to get their indexes', async () => {
      let renewing: Promise<string> | undefined;
      await retainWhileRead(async ({ books }) => {
        await books.db
          .updateTable('days')
          .set({ indexes: null })
          .where('day', '=', TODAY - 5)
          .execute();
        let hasEnded = false;
        const renew = async () => {
          await renewIndexes(books, TODAY);
          return 'renewed';
        };
        renewing = renew()
          .catch((error: Error) => error.message)
          .finally(() => {
            hasEnded = true;
          });
        const isWaiting = async () => hasEnded || (await listWaiting(books)).length === 2;
        await waitUntil(isWaiting, 'the day is to get its indexes');
      });
      expect(await renewing).toBe('renewed');
    });
  });

  it('take what was entered while they were archived with them', async () => {
    const { entries, ...scene } = await createFilled();
    const place = createFolderPlace(createTempDir());
    const late = entriesOfDay(TODAY - 5, 3, { bucket: 9 });
    const putText = async (name: string, text: string) => {
      await place.putText(name, text);
      await enter(scene.books, late);
    };
    const { failures } = await retain({ ...scene, place: { ...place, putText } });
    expect(failures).toEqual([expect.stringContaining('has changed since')]);
    expect(await sumEverything(scene.books, place)).toEqual(sumEntries([...entries, ...late]));
    expect((await retain({ ...scene, place })).archived).toEqual(['2026-11-15']);
    expect(await sumEverything(scene.books, place)).toEqual(sumEntries([...entries, ...late]));
  });

  it('open again for late entries, and are archived with them', async () => {
    const { entries, ...scene } = await createFilled();
    const { books } = scene;
    const place = createFolderPlace(createTempDir());
    await retain({ ...scene, place });
    const late = entriesOfDay(TODAY - 5, 5, { bucket: 9 });
    await enter(books, late);
    const all = sumEntries([...entries, ...late]);
    expect(await readStates(books)).toMatchObject({ '-5': 'open' });
    // They count when they were compared with the archive.
    expect(await countTable(books, TODAY - 5)).toBe(0);
    expect(await sumEverything(books, place)).toEqual(sumEntries(entries));
    expect(await checkAll(books)).toEqual([]);
    expect(await retain({ ...scene, place })).toEqual({ archived: ['2026-11-15'], failures: [] });
    expect(await readStates(books)).toMatchObject({ '-5': 'dropped' });
    expect(await readManifest(place, TODAY - 5)).toMatchObject({ rows: 105 });
    expect(await sumEverything(books, place)).toEqual(all);
    expect(await checkAll(books)).toEqual([]);
  });

  it('are restored exactly as they were', async () => {
    const { books, connection } = await createFilled();
    const place = createFolderPlace(createTempDir());
    const day = TODAY - 5;
    const read = () => books.db.selectFrom(entriesOf(day)).selectAll().orderBy('seq').execute();
    const before = await read();
    await retain({ books, connection, place });
    const [late] = entriesOfDay(day, 1, { bucket: 9, seq: 1_000 });
    if (late === undefined) throw new Error('there is one');
    await enter(books, [late]);
    const kept: unknown[] = [];
    const putText = async (name: string, text: string) => {
      kept.push(await read());
      await place.putText(name, text);
    };
    await retain({ books, connection, place: { ...place, putText } });
    expect(kept).toEqual([[...before, late]]);
  });

  it('take counts of refusals with them, and nothing else', async () => {
    const { books, connection } = await createFilled();
    const kept = (TODAY - 3) * 1_440;
    const count = (minute: number, source: string) => ({
      ...{ minute, source, account: 'a', key: 'k', model: 'm', refusal: 'r', count: 1 },
    });
    const old = Array.from({ length: 300 }, (_, index) =>
      count(kept - 1 - (index % 7), `s${index}`),
    );
    await books.db
      .insertInto('refusals')
      .values([...old, count(kept, 's'), count(kept + 1, 's')])
      .execute();
    const forgotten: number[] = [];
    const onForgotten = (counts: number) => void forgotten.push(counts);
    const place = createFolderPlace(createTempDir());
    await retain({ books, connection, place, keepMs: KEEP_MS, onForgotten });
    expect(forgotten).toEqual([300]);
    const left = await books.db.selectFrom('refusals').select('minute').orderBy('minute').execute();
    expect(left).toEqual([{ minute: kept }, { minute: kept + 1 }]);
    const days = await books.db.selectFrom('account_days').select('day').orderBy('day').execute();
    expect(days.map(({ day }) => day - TODAY)).toEqual([-5, -3, 0]);
  });
});
