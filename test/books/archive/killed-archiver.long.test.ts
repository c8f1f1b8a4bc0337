import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveDay } from '../../../src/books/archive/archive-day.ts';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import { readManifest } from '../../../src/books/archive/manifest.ts';
import { verifyArchivedDay } from '../../../src/books/archive/verify-archived-day.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import type { ArchiverOrder } from './archiver-main.ts';
import { DAY, rowsOf, sourceOf } from './days.ts';

const PROGRAM = 'dist/test/books/archive/archiver-main.js';
const ROWS = 1_000;
/** Four parts, each created, written and renamed, and then the manifest. */
const EVENTS = [1, 2, 4, 6, 8, 11, 14, 17, 20, 22, 24];

/** Kills at the nth change among the files of these folders. */
async function killAtEvent(order: ArchiverOrder, folders: string[], nth: number): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(order)], { stdio: 'inherit' });
  let events = 0;
  const watchers = folders.map((folder) =>
    watch(folder, () => {
      events += 1;
      if (events === nth) child.kill('SIGKILL');
    }),
  );
  await once(child, 'exit');
  for (const watcher of watchers) watcher.close();
  expect(child.signalCode).toBe('SIGKILL');
}

describe('an archiver that is killed', () => {
  it.each(EVENTS)(
    'at change %i leaves no manifest of half a day, and the next completes it',
    async (nth) => {
      const folder = createTempDir();
      const tempFolder = createTempDir();
      const watched = ['entries/date=2026-11-23', 'manifest'].map((name) => join(folder, name));
      for (const path of watched) mkdirSync(path, { recursive: true });
      const order = { folder, tempFolder, rows: ROWS, rowsPerFileMax: 250 };
      await killAtEvent(order, watched, nth);
      const place = createFolderPlace(folder);
      if ((await readManifest(place, DAY)) !== undefined) {
        expect(await verifyArchivedDay(place, DAY, { tempFolder })).toEqual([]);
      }
      const clock = { nowMs: () => Date.now() };
      const manifest = await archiveDay(sourceOf(rowsOf(ROWS)), place, { ...order, clock });
      expect(manifest.rows).toBe(ROWS);
      expect(await verifyArchivedDay(place, DAY, { tempFolder })).toEqual([]);
      expect(readdirSync(join(folder, 'entries/date=2026-11-23'))).toHaveLength(4);
      expect(readdirSync(join(folder, 'manifest'))).toEqual(['2026-11-23.json']);
      expect(readdirSync(tempFolder)).toEqual([]);
    },
  );
});
