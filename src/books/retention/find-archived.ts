import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveStore } from '../archive/archive-store.ts';
import { readManifest } from '../archive/manifest.ts';
import { type DuckDb, openDuckDb, quoteText } from '../archive/open-duckdb.ts';
import { escapeGlob } from '../archive/parquet-sums.ts';
import { nameDay } from '../engine/days.ts';
import type { RowPlace } from '../writing/find-places.ts';
import { eventOf } from '../writing/find-rivals.ts';
import { bringDayHere } from './bring-day-here.ts';

const MEMORY_MAX = '128MB';

/** Finds the places of the same events on one archived day. */
type ArchiveFinder = (
  rows: readonly { readonly request: string }[],
) => Promise<ReadonlyMap<string, RowPlace>>;

interface ArchivedDay {
  readonly place: ArchiveStore;
  readonly day: number;
  /** Belongs to this call alone. */
  readonly tempFolder: string;
}

/** Brings the files of an archived day here while `work` runs. Throws if one is damaged. */
export async function withArchivedDay<Result>(
  { place, day, tempFolder }: ArchivedDay,
  work: (find: ArchiveFinder) => Promise<Result>,
): Promise<Result> {
  const manifest = await readManifest(place, day);
  if (manifest === undefined) throw new Error(`${place.title} has no ${nameDay(day)}`);
  const folder = join(tempFolder, `comparing-${nameDay(day)}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const duckDb = await openDuckDb({ tempFolder: join(folder, 'spill'), memoryMax: MEMORY_MAX });
  try {
    const paths = await bringDayHere(place, manifest, folder);
    return await work((rows) => findEvents(duckDb, paths, rows));
  } finally {
    duckDb.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function findEvents(
  duckDb: DuckDb,
  paths: readonly string[],
  rows: readonly { readonly request: string }[],
): Promise<ReadonlyMap<string, RowPlace>> {
  const files = paths.map((path) => quoteText(escapeGlob(path))).join(', ');
  const requests = [...new Set(rows.map(({ request }) => quoteText(request)))].join(', ');
  if (files === '') return new Map();
  const found = await duckDb.readAll(
    `SELECT request, kind, account, ms, bucket, seq
     FROM read_parquet([${files}], hive_partitioning = false) WHERE request IN (${requests})`,
  );
  return new Map(
    found.map(([request, kind, account, ms, bucket, seq]) => [
      eventOf({ request: `${request}`, kind: `${kind}`, account: `${account}` }),
      { ms: Number(ms), bucket: Number(bucket), seq: Number(seq) },
    ]),
  );
}
