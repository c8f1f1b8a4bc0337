import {
  appendFileSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveDay } from '../../../src/books/archive/archive-day.ts';
import type { ArchiveStore } from '../../../src/books/archive/archive-store.ts';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import { listArchivedDays, readManifest } from '../../../src/books/archive/manifest.ts';
import { createS3Place } from '../../../src/books/archive/s3-place.ts';
import { verifyArchivedDay } from '../../../src/books/archive/verify-archived-day.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { startS3Server } from '../../support/servers/start-s3-server.ts';
import { DAY, rowOf, rowsOf, sourceOf } from './days.ts';

const clock = { nowMs: () => Date.parse('2026-11-24T01:00:00Z') };

function optionsOf(rowsPerFileMax = 250) {
  return { clock, tempFolder: createTempDir(), rowsPerFileMax };
}

const PLACES: readonly [string, () => ArchiveStore | Promise<ArchiveStore>][] = [
  ['a folder', () => createFolderPlace(createTempDir())],
  ['a bucket', async () => createS3Place({ ...(await startS3Server()), prefix: '/fleet 1+2=ü/' })],
];

describe.each(PLACES)('a day in %s', (_where, createPlace) => {
  it('is archived in parts, and its manifest says what they hold', async () => {
    const place = await createPlace();
    const options = optionsOf();
    const manifest = await archiveDay(sourceOf(rowsOf(600)), place, options);
    expect(manifest).toMatchObject({
      date: '2026-11-23',
      rows: 600,
      held: 600n * 2_000n + 179_700n,
      charged: 600n * 1_000n + 179_700n,
      first: { ms: DAY * 86_400_000, bucket: 0, seq: 0 },
      last: { ms: DAY * 86_400_000 + 199, bucket: 2, seq: 0 },
      archived_at: '2026-11-24T01:00:00.000Z',
    });
    expect(manifest.parts.map(({ name, rows }) => [name, rows])).toEqual([
      [expect.stringMatching(/^entries\/date=2026-11-23\/part-0-[\da-f]{12}\.parquet$/), 250],
      [expect.stringMatching(/^entries\/date=2026-11-23\/part-1-[\da-f]{12}\.parquet$/), 250],
      [expect.stringMatching(/^entries\/date=2026-11-23\/part-2-[\da-f]{12}\.parquet$/), 100],
    ]);
    expect(await readManifest(place, DAY)).toEqual(manifest);
    expect(await listArchivedDays(place)).toEqual([DAY]);
    expect(await verifyArchivedDay(place, DAY, options)).toEqual([]);
    expect(readdirSync(options.tempFolder)).toEqual([]);
  });

  it('without entries is archived as such', async () => {
    const place = await createPlace();
    const manifest = await archiveDay(sourceOf([]), place, optionsOf());
    expect(manifest).toMatchObject({ rows: 0, charged: 0n, first: null, last: null, parts: [] });
    expect(await verifyArchivedDay(place, DAY, optionsOf())).toEqual([]);
  });

  it('is not archived while its source fails', async () => {
    const place = await createPlace();
    const source = sourceOf(rowsOf(300));
    const failing = {
      ...source,
      rows: async function* () {
        yield* source.rows();
        throw new Error('the books are gone');
      },
    };
    const options = optionsOf(100);
    await expect(archiveDay(failing, place, options)).rejects.toThrow('the books are gone');
    expect(await readManifest(place, DAY)).toBeUndefined();
    expect(await listArchivedDays(place)).toEqual([]);
    expect(await verifyArchivedDay(place, DAY, options)).toEqual(['2026-11-23 has no manifest']);
    expect(readdirSync(options.tempFolder)).toEqual([]);
  });

  it('loses the parts of an earlier run that it has no more', async () => {
    const place = await createPlace();
    const stray = 'entries/date=2026-11-23/part-7.parquet';
    await place.putText(stray, 'half of a part');
    await place.putText('entries/date=2026-11-22/part-7.parquet', 'of another day');
    const { parts } = await archiveDay(sourceOf(rowsOf(10)), place, optionsOf());
    expect(parts).toHaveLength(1);
    expect(await place.list('entries/')).toEqual([
      'entries/date=2026-11-22/part-7.parquet',
      ...parts.map(({ name }) => name),
    ]);
  });

  it('stays as it is when it is archived again', async () => {
    const place = await createPlace();
    const manifest = await archiveDay(sourceOf(rowsOf(300)), place, optionsOf());
    const later = { ...optionsOf(10), clock: { nowMs: () => clock.nowMs() + 1 } };
    expect(await archiveDay(sourceOf(rowsOf(300)), place, later)).toEqual(manifest);
  });

  it('is archived anew with entries that came late', async () => {
    const place = await createPlace();
    await archiveDay(sourceOf(rowsOf(300)), place, optionsOf(100));
    const manifest = await archiveDay(sourceOf(rowsOf(301)), place, optionsOf(200));
    expect(manifest.rows).toBe(301);
    expect(await place.list('entries/')).toHaveLength(2);
    expect(await verifyArchivedDay(place, DAY, optionsOf())).toEqual([]);
  });

  it('keeps its parts when an upload of an earlier run ends late', async () => {
    const place = await createPlace();
    const late: (() => Promise<void>)[] = [];
    const slow = {
      ...place,
      putFile: async (name: string, file: Parameters<typeof place.putFile>[1]) => {
        const copy = join(createTempDir(), 'part.parquet');
        copyFileSync(file.path, copy);
        late.push(() => place.putFile(name, { ...file, path: copy }));
        throw new Error('given up');
      },
    };
    await expect(archiveDay(sourceOf(rowsOf(300)), slow, optionsOf())).rejects.toThrow('given up');
    const manifest = await archiveDay(sourceOf(rowsOf(301)), place, optionsOf());
    for (const put of late) await put();
    expect(late).toHaveLength(1);
    expect(await readManifest(place, DAY)).toEqual(manifest);
    expect(await verifyArchivedDay(place, DAY, optionsOf())).toEqual([]);
  });

  it('is never replaced by one that has fewer entries, or others', async () => {
    const place = await createPlace();
    const manifest = await archiveDay(sourceOf(rowsOf(300)), place, optionsOf());
    await expect(archiveDay(sourceOf(rowsOf(299)), place, optionsOf())).rejects.toThrow(
      'has another 2026-11-23 than the books: rows is 300, not 299',
    );
    const changed = [...rowsOf(299), rowOf(299, { charged: 0 })];
    await expect(archiveDay(sourceOf(changed), place, optionsOf())).rejects.toThrow('charged is');
    expect(await readManifest(place, DAY)).toEqual(manifest);
    expect(await verifyArchivedDay(place, DAY, optionsOf())).toEqual([]);
  });

  it('is found damaged if a part is missing, or is another', async () => {
    const place = await createPlace();
    const { parts } = await archiveDay(sourceOf(rowsOf(300)), place, optionsOf(100));
    const [first, , third] = parts.map(({ name }) => name);
    await place.remove(`${first}`);
    await place.putText(`${third}`, 'PAR1 PAR1');
    expect(await verifyArchivedDay(place, DAY, optionsOf())).toEqual([
      `${first}: it is missing`,
      expect.stringContaining(`${third}: it has 9 bytes, not `),
    ]);
  });
});

describe('a day to be archived', () => {
  it('has entries in order, of that day only, and none twice', async () => {
    const place = createFolderPlace(createTempDir());
    const archive = (...indexes: number[]) =>
      archiveDay(sourceOf(indexes.map((index) => rowOf(index))), place, optionsOf());
    await expect(archive(1, 0)).rejects.toThrow('comes after');
    await expect(archive(1, 1)).rejects.toThrow('comes after');
    await expect(archive(3 * 86_400_000)).rejects.toThrow('is not of 2026-11-23');
    expect(await listArchivedDays(place)).toEqual([]);
  });

  it.each([
    ['integer that is not exact', { held: 2 ** 53 }, 'column held takes no number as integer'],
    ['fraction', { held: 0.5 }, 'column held takes no number as integer'],
    ['text as an integer', { held: '7' }, 'column held takes no string as integer'],
    ['number as a text', { kind: 7 }, 'column kind takes no number as text'],
    ['boolean beyond 0 and 1', { streamed: 2 }, 'column streamed takes no number as boolean'],
  ])('has no %s', async (_what, differing, message) => {
    const place = createFolderPlace(createTempDir());
    const source = sourceOf([rowOf(0, differing)]);
    await expect(archiveDay(source, place, optionsOf())).rejects.toThrow(message);
  });

  it('is not archived if one of its parts cannot be put into its place', async () => {
    const place = createFolderPlace(createTempDir());
    const full = {
      ...place,
      putFile: async (name: string, file: Parameters<typeof place.putFile>[1]) => {
        if (name.includes('part-1-')) throw new Error('the place is full');
        await place.putFile(name, file);
      },
    };
    const options = optionsOf(100);
    await expect(archiveDay(sourceOf(rowsOf(300)), full, options)).rejects.toThrow(
      'the place is full',
    );
    expect(await readManifest(place, DAY)).toBeUndefined();
    expect(readdirSync(options.tempFolder)).toEqual([]);
    expect((await archiveDay(sourceOf(rowsOf(300)), place, options)).parts).toHaveLength(3);
  });

  it('needs an archive folder that exists: it may be a disk that is not mounted', async () => {
    const folder = join(createTempDir(), 'not-mounted');
    const place = createFolderPlace(folder);
    await expect(archiveDay(sourceOf(rowsOf(1)), place, optionsOf())).rejects.toThrow('ENOENT');
  });

  it('is given up when its signal is aborted', async () => {
    const place = createFolderPlace(createTempDir());
    const options = { ...optionsOf(), signal: AbortSignal.abort(new Error('the node stops')) };
    await expect(archiveDay(sourceOf(rowsOf(1)), place, options)).rejects.toThrow('the node stops');
    expect(await listArchivedDays(place)).toEqual([]);
  });
});

describe('an archived day in a folder', () => {
  const archiveOne = async () => {
    const folder = createTempDir();
    const place = createFolderPlace(folder);
    const { parts } = await archiveDay(sourceOf(rowsOf(300)), place, optionsOf());
    const name = `${parts[0]?.name}`;
    return {
      place,
      name,
      part: join(folder, name),
      manifest: join(folder, 'manifest/2026-11-23.json'),
    };
  };

  it('is found damaged if one byte of a part differs', async () => {
    const { place, name, part } = await archiveOne();
    const bytes = readFileSync(part);
    bytes.writeUInt8(bytes.readUInt8(500) ^ 1, 500);
    writeFileSync(part, bytes);
    expect(await verifyArchivedDay(place, DAY, optionsOf())).toEqual([
      `${name}: its SHA-256 differs`,
    ]);
  });

  it('is found damaged if its manifest was changed', async () => {
    const { place, manifest } = await archiveOne();
    const text = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, text.replace('"rows": 300', '"rows": 301'));
    expect(await verifyArchivedDay(place, DAY, optionsOf())).toEqual([
      'the parts of 2026-11-23 are not its sums: rows is 300, not 301',
    ]);
    appendFileSync(manifest, '}');
    await expect(readManifest(place, DAY)).rejects.toThrow('manifest/2026-11-23.json is no JSON');
    writeFileSync(manifest, '{}');
    await expect(readManifest(place, DAY)).rejects.toThrow('is no manifest');
    writeFileSync(manifest, text.replace('"2026-11-23"', '"2026-11-24"'));
    await expect(readManifest(place, DAY)).rejects.toThrow('is of 2026-11-24');
    rmSync(manifest);
    expect(await readManifest(place, DAY)).toBeUndefined();
  });
});
