import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import type { Books } from '../../../src/books/engine/books.ts';
import { importSegments } from '../../../src/books/import/import-segments.ts';
import { verifyBooks } from '../../../src/books/verify/verify-books.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { noteProgress, retain } from '../archive/retention-scene.ts';
import { describeBooks } from '../books-scene.ts';
import { enterStreams } from '../enter-streams.ts';
import { useRedis } from '../use-redis.ts';
import { replayRedis, SEGMENTS } from './replay-redis.ts';

const BUCKETS = [3, 200];
/** Long after the entries of the segments. */
const LATER_MS = Date.parse('2027-06-01T00:00:00Z');

describeBooks('importing segments of archived days from another folder', (scene) => {
  const redis = useRedis();
  let books: Books;

  beforeEach(async () => {
    books = await scene.create();
    await replayRedis(redis.connection);
  });

  it('counts nothing twice, also before the archiver has compared them', async () => {
    const { connection } = redis;
    const clock = { nowMs: () => LATER_MS };
    const place = createFolderPlace(createTempDir());
    const importFolder = (dirs: readonly string[]) =>
      importSegments({
        ...{ books, connection, dirs, clock, onProgress: () => {} },
        signal: new AbortController().signal,
        findCost: () => 100,
      });
    const archive = () => retain({ books, connection, place, clock, keepMs: 86_400_000 });
    const readTotals = () =>
      books.db.selectFrom('account_totals').selectAll().orderBy('account').execute();

    const dirs = [join(SEGMENTS, 'a'), join(SEGMENTS, 'b')];
    await importFolder(dirs);
    await enterStreams(books, connection, BUCKETS);
    const before = await readTotals();
    await noteProgress(books, connection, LATER_MS);
    expect((await archive()).failures).toEqual([]);

    const copies = dirs.map((dir) => {
      const copy = createTempDir();
      cpSync(dir, copy, { recursive: true });
      return copy;
    });
    expect((await importFolder(copies)).entries).toBe(0);
    expect(await books.db.selectFrom('doubtful').select('ms').execute()).not.toEqual([]);
    expect(await readTotals()).toEqual(before);
    expect((await archive()).failures).toEqual([]);
    expect(await readTotals()).toEqual(before);
    const report = await verifyBooks({
      ...{ books, connection, clock, isFull: true, onProgress: () => {} },
      signal: new AbortController().signal,
    });
    expect(report).toMatchObject({ drifts: [], sum_drifts: [] });
  });
});
