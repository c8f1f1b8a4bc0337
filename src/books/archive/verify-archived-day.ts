import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { nameDay } from '../engine/days.ts';
import type { ArchiveStore } from './archive-store.ts';
import { compareDaySums, type DaySums, joinSums, NO_DAY_SUMS } from './day-sums.ts';
import { compareHashes, hashFile } from './hash-file.ts';
import { makeOwnFolder } from './make-own-folder.ts';
import { isManifest, type ManifestPart, readManifest } from './manifest.ts';
import { type DuckDb, openDuckDb } from './open-duckdb.ts';
import { sumParquet } from './parquet-sums.ts';

const MEMORY_MAX = '128MB';

interface VerifyOptions {
  readonly tempFolder: string;
  /** What the books have noted as its manifest; without it, the one in the archive is trusted. */
  readonly noted?: string;
}

/**
 * Reads a day of the archive back, and describes what is wrong with it: nothing if the day is
 * archived and every file is there, unchanged, and holds what the manifest says.
 */
export async function verifyArchivedDay(
  place: ArchiveStore,
  day: number,
  options: VerifyOptions,
): Promise<string[]> {
  const manifest = await readManifest(place, day);
  if (manifest === undefined) return [`${nameDay(day)} has no manifest`];
  if (options.noted !== undefined && !isManifest(manifest, options.noted)) {
    return [`the manifest of ${manifest.date} is not the one that the books have`];
  }
  const tempFolder = await makeOwnFolder(options.tempFolder);
  const duckDb = await openDuckDb({ tempFolder, memoryMax: MEMORY_MAX });
  try {
    const problems: string[] = [];
    let sums: DaySums = NO_DAY_SUMS;
    for (const part of manifest.parts) {
      const problem = await verifyPart(place, part, duckDb, join(tempFolder, 'part'));
      if (problem !== undefined) problems.push(`${part.name}: ${problem}`);
      sums = joinSums(sums, part);
    }
    const differences = compareDaySums(manifest, sums);
    if (differences.length > 0) {
      problems.push(`the parts of ${manifest.date} are not its sums: ${differences.join(', ')}`);
    }
    return problems;
  } finally {
    duckDb.close();
    await rm(tempFolder, { recursive: true });
  }
}

async function verifyPart(
  place: ArchiveStore,
  part: ManifestPart,
  duckDb: DuckDb,
  folder: string,
): Promise<string | undefined> {
  const path = await place.bringHere(part.name, folder);
  if (path === undefined) return 'it is missing';
  try {
    const difference = compareHashes(part, await hashFile(path));
    if (difference !== undefined) return difference;
    const differences = compareDaySums(part, await sumParquet(duckDb, path));
    return differences.length > 0 ? differences.join(', ') : undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
