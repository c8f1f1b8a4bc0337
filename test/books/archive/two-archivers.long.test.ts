import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import { checkDays } from '../../../src/books/verify/check-days.ts';
import { ARCHIVER_KEY } from '../../../src/redis/redis-keys.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks } from '../books-scene.ts';
import { enter } from '../questions/questions-scene.ts';
import { useRedis } from '../use-redis.ts';
import {
  entriesOfDay,
  noteProgress,
  type Retained,
  readStates,
  retain,
  sumEntries,
  sumEverything,
  TODAY,
} from './retention-scene.ts';

const redis = useRedis();

describeBooks('an archiver whose lease another one has taken', ({ create }) => {
  /** The second one does all of its work while the first one reads the archive back. */
  const archiveTwice = async ({ late = 0 } = {}) => {
    const { connection } = redis;
    const books = await create();
    const entries = [...entriesOfDay(TODAY - 5, 20), ...entriesOfDay(TODAY, 10)];
    await enter(books, entries);
    await noteProgress(books, connection);
    const place = createFolderPlace(createTempDir());
    let second: Retained | undefined;
    const bringHere = async (name: string, folder: string) => {
      if (second === undefined) {
        second = { archived: [], failures: [] };
        await connection.send('del', [ARCHIVER_KEY]);
        second = await retain({ books, connection, place });
        const more = entriesOfDay(TODAY - 5, late, { bucket: 9 });
        if (late > 0) await enter(books, more);
        entries.push(...more);
      }
      return await place.bringHere(name, folder);
    };
    await retain({ books, connection, place: { ...place, bringHere } });
    expect(second).toEqual({ archived: ['2026-11-15'], failures: [] });
    return { books, connection, place, entries };
  };

  it('leaves a day alone that the other one has dropped', async () => {
    const { books, place, entries } = await archiveTwice();
    expect(await readStates(books)).toEqual({ '-5': 'dropped', '0': 'open' });
    expect(await sumEverything(books, place)).toEqual(sumEntries(entries));
    const clock = { nowMs: () => Date.now() };
    const { drifts } = await checkDays({ books, clock, isFull: true, onHour: () => {} });
    expect(drifts).toEqual([]);
  });

  it('leaves a day alone that the other one has dropped, and that late entries opened', async () => {
    const { books, place, entries, connection } = await archiveTwice({ late: 3 });
    expect(await readStates(books)).toEqual({ '-5': 'open', '0': 'open' });
    const again = await retain({ books, connection, place });
    expect(again).toEqual({ archived: ['2026-11-15'], failures: [] });
    expect(await sumEverything(books, place)).toEqual(sumEntries(entries));
  });

  it.each([
    ['enters no late entries again that the other one has entered', 'comparing-', 0],
    ['brings nothing back that the other one has archived anew', 'restoring-', 2],
  ])('%s', async (_title, phase, later) => {
    const { connection } = redis;
    const books = await create();
    const [early, late] = [entriesOfDay(TODAY - 5, 20), entriesOfDay(TODAY - 5, 3, { bucket: 9 })];
    await enter(books, early);
    await noteProgress(books, connection);
    const place = createFolderPlace(createTempDir());
    await retain({ books, connection, place });
    await enter(books, late);
    let isFirst = true;
    const bringHere = async (name: string, folder: string) => {
      const path = await place.bringHere(name, folder);
      if (path === undefined || !isFirst || !folder.includes(phase)) return path;
      isFirst = false;
      // As it is before the other one archives the day anew.
      const copy = join(folder, 'copy.parquet');
      copyFileSync(path, copy);
      await connection.send('del', [ARCHIVER_KEY]);
      await retain({ books, connection, place });
      // These open the day, and do not count yet.
      await enter(books, entriesOfDay(TODAY - 5, later, { bucket: 10 }));
      return copy;
    };
    const first = retain({ books, connection, place: { ...place, bringHere } });
    await first.catch(() => {});
    const sums = sumEntries([...early, ...late]);
    expect(await sumEverything(books, place)).toEqual(sums);
    const { rows } = await sql<{ charged: number }>`
      select sum(charged) as charged from account_days`.execute(books.db);
    expect(rows).toEqual([{ charged: sums.charged }]);
  });

  it('changes nothing any more in the archive of the other one', async () => {
    const { connection } = redis;
    const books = await create();
    const [early, late] = [entriesOfDay(TODAY - 5, 100), entriesOfDay(TODAY - 5, 3, { bucket: 9 })];
    await enter(books, early);
    await noteProgress(books, connection);
    const place = createFolderPlace(createTempDir());
    let isFirst = true;
    const putFile: typeof place.putFile = async (...args) => {
      await place.putFile(...args);
      if (!isFirst) return;
      isFirst = false;
      await connection.send('del', [ARCHIVER_KEY]);
      await enter(books, late);
      await retain({ books, connection, place });
    };
    await expect(retain({ books, connection, place: { ...place, putFile } })).rejects.toThrow(
      'another process has begun to archive the books',
    );
    expect(await readStates(books)).toEqual({ '-5': 'dropped' });
    expect(await sumEverything(books, place)).toEqual(sumEntries([...early, ...late]));
  });

  it('waits for the lease of one that was killed', async () => {
    const { connection } = redis;
    const books = await create();
    await enter(books, entriesOfDay(TODAY - 5, 20));
    await noteProgress(books, connection);
    await connection.send('set', [ARCHIVER_KEY, 'killed', 'px', 1_000]);
    const place = createFolderPlace(createTempDir());
    const holders: unknown[] = [];
    const putFile: typeof place.putFile = async (...args) => {
      holders.push(await connection.send('get', [ARCHIVER_KEY]));
      await place.putFile(...args);
    };
    const retained = await retain({ books, connection, place: { ...place, putFile } });
    expect(retained).toEqual({ archived: ['2026-11-15'], failures: [] });
    expect(holders).not.toEqual([]);
    expect(holders).not.toContain('killed');
  });

  it('waits no longer where the clock of Redis was set back since', async () => {
    const { connection } = redis;
    const books = await create();
    await enter(books, entriesOfDay(TODAY - 5, 20));
    await noteProgress(books, connection);
    await connection.send('set', [ARCHIVER_KEY, 'killed', 'px', 3_600_000]);
    const retaining = retain({ books, connection, place: createFolderPlace(createTempDir()) });
    await waitUntil(
      async () => Number(await connection.send('pttl', [ARCHIVER_KEY])) <= 30_000,
      'the lease ends as soon as any other',
      20_000,
    );
    await connection.send('del', [ARCHIVER_KEY]);
    expect(await retaining).toEqual({ archived: ['2026-11-15'], failures: [] });
  });
});
