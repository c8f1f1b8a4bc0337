import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lib/time/clock.ts';
import { nameDay } from '../engine/days.ts';
import type { ArchiveStore } from './archive-store.ts';
import type { DaySource } from './day-source.ts';
import { addRows, compareDaySums, type DaySums, joinSums, NO_DAY_SUMS } from './day-sums.ts';
import type { FileHash } from './hash-file.ts';
import {
  type Manifest,
  type ManifestPart,
  partsPrefix,
  readManifest,
  removeManifest,
  writeManifest,
} from './manifest.ts';
import { writeParquet } from './write-parquet.ts';

const TAG_CHARS = 12;

export interface ArchiveOptions {
  readonly clock: Clock;
  /** Needs room for one file and its rows. Only one process may archive with it at a time. */
  readonly tempFolder: string;
  readonly rowsPerFileMax?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Archives a closed day. The manifest comes last: if this ends early, the day is not archived,
 * and the next call starts again.
 *
 * A day that is archived already stays as it is, unless the source has more rows than the archive.
 * Throws if it has fewer, or others: the archive may then be all that is left of the day.
 */
export async function archiveDay(
  source: DaySource,
  place: ArchiveStore,
  options: ArchiveOptions,
): Promise<Manifest> {
  const archived = await readManifest(place, source.day);
  if (archived !== undefined) {
    const sums = await sumSource(source, options.signal);
    const differences = compareDaySums(sums, archived);
    if (differences.length === 0) return archived;
    if (sums.rows <= archived.rows) {
      const date = nameDay(source.day);
      throw new Error(
        `${place.title} has another ${date} than the books: ${differences.join(', ')}`,
      );
    }
    await removeManifest(place, source.day);
  }
  const parts = await putParts(source, place, options);
  const manifest: Manifest = {
    version: 1,
    date: nameDay(source.day),
    ...parts.reduce<DaySums>(joinSums, NO_DAY_SUMS),
    bytes: parts.reduce((bytes, part) => bytes + part.bytes, 0),
    columns: source.columns.map(({ name, type }) => ({ name, type })),
    parts,
    archived_at: new Date(options.clock.nowMs()).toISOString(),
  };
  await writeManifest(place, manifest);
  await removeStrayParts(place, source.day, parts);
  return manifest;
}

async function putParts(
  source: DaySource,
  place: ArchiveStore,
  options: ArchiveOptions,
): Promise<ManifestPart[]> {
  const tempFolder = join(options.tempFolder, `archiving-${nameDay(source.day)}`);
  // A run that was killed leaves its folder behind.
  await rm(tempFolder, { recursive: true, force: true });
  await mkdir(tempFolder, { recursive: true });
  const parts: ManifestPart[] = [];
  try {
    for await (const file of writeParquet(source, { ...options, tempFolder })) {
      const name = `${partsPrefix(source.day)}part-${parts.length}-${tagOf(file)}.parquet`;
      await place.putFile(name, file);
      await rm(file.path);
      parts.push({ name, bytes: file.bytes, sha256: file.sha256, ...file.sums });
    }
    return parts;
  } finally {
    await rm(tempFolder, { recursive: true, force: true });
  }
}

/**
 * Different files have different names: an upload that stood still for a long time, and ends
 * after another run has archived the day, overwrites nothing.
 */
function tagOf({ sha256 }: FileHash): string {
  return sha256.slice(0, TAG_CHARS);
}

async function sumSource(source: DaySource, signal: AbortSignal | undefined): Promise<DaySums> {
  let sums = NO_DAY_SUMS;
  for await (const rows of source.rows()) {
    signal?.throwIfAborted();
    sums = addRows(source.day, sums, rows);
  }
  return sums;
}

/** Parts that an earlier run of the day wrote and this one did not overwrite. */
async function removeStrayParts(
  place: ArchiveStore,
  day: number,
  parts: readonly ManifestPart[],
): Promise<void> {
  const kept = new Set(parts.map(({ name }) => name));
  for (const name of await place.list(partsPrefix(day))) {
    if (!kept.has(name)) await place.remove(name);
  }
}
