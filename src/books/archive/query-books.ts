import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bringDayHere } from '../retention/bring-day-here.ts';
import type { ArchiveStore } from './archive-store.ts';
import { type DayColumn, type DaySource, dateOfDay, MS_PER_DAY } from './day-source.ts';
import { encodeResult, type ResultFormat } from './encode-result.ts';
import { ENTRY_COLUMNS } from './entry-columns.ts';
import { listArchivedDays, readManifest } from './manifest.ts';
import { type DuckDb, openDuckDb, quoteName, quoteText, SQL_TYPES } from './open-duckdb.ts';
import { escapeGlob } from './parquet-sums.ts';
import { writeParquet } from './write-parquet.ts';

/** The days that the books still hold themselves. */
export interface LiveDays {
  list(): Promise<readonly LiveDay[]>;
  open(day: number): DaySource;
}

export interface LiveDay {
  readonly day: number;
  /** Whether the books have only what the archive lacks of the day. */
  readonly isRest: boolean;
}

export interface QueryOptions {
  readonly place?: ArchiveStore | undefined;
  readonly live?: LiveDays | undefined;
  /** Entries from this moment on. */
  readonly fromMs?: number | undefined;
  /** Entries before this moment. */
  readonly toMs?: number | undefined;
  readonly format: ResultFormat;
  /** Needs room for the live days and, if the archive is no folder, for the archived ones. */
  readonly tempFolder: string;
  readonly signal?: AbortSignal | undefined;
  /** A day is ready to be read. */
  readonly onDay?: ((day: ReadyDay) => void) | undefined;
}

export interface ReadyDay {
  readonly date: string;
  readonly from: 'archive' | 'books';
  readonly done: number;
  readonly days: number;
}

const MEMORY_MAX = '512MB';

/**
 * Answers a SELECT over the view `entries`: the live days, and the archived ones. Beside the
 * columns of an entry it has `time` and `date`, in UTC. The query can read nothing else on this
 * machine, and change nothing.
 */
export async function* queryBooks(
  sql: string,
  options: QueryOptions,
): AsyncGenerator<string, void, undefined> {
  await mkdir(options.tempFolder, { recursive: true });
  const tempFolder = await mkdtemp(join(options.tempFolder, 'query-'));
  let duckDb: DuckDb | undefined;
  const interrupt = () => duckDb?.interrupt();
  try {
    const files = await gatherFiles(options, tempFolder);
    duckDb = await openDuckDb({ tempFolder: join(tempFolder, 'spill'), memoryMax: MEMORY_MAX });
    await createView(duckDb, files, options);
    await shutIn(duckDb, files);
    options.signal?.throwIfAborted();
    options.signal?.addEventListener('abort', interrupt);
    yield* encodeResult(await duckDb.select(sql), options.format);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', interrupt);
    duckDb?.close();
    await rm(tempFolder, { recursive: true });
  }
}

/** The paths of all Parquet files of the days in question. */
async function gatherFiles(options: QueryOptions, tempFolder: string): Promise<string[]> {
  const { place, live } = options;
  // In this order: a day that leaves the books meanwhile is then missed by none of the two.
  const liveDays = (await live?.list()) ?? [];
  const isWhole = new Set(liveDays.filter(({ isRest }) => !isRest).map(({ day }) => day));
  const archived = ((place && (await listArchivedDays(place))) ?? []).filter(
    (day) => !isWhole.has(day),
  );
  const days = [
    ...archived.map((day) => ({ day, from: 'archive' as const })),
    ...liveDays.map(({ day }) => ({ day, from: 'books' as const })),
  ]
    .filter(({ day }) => isAsked(options, day))
    .toSorted((one, other) => one.day - other.day);
  const files: string[] = [];
  for (const [index, { day, from }] of days.entries()) {
    options.signal?.throwIfAborted();
    const folder = join(tempFolder, `${from}-${dateOfDay(day)}`);
    await mkdir(folder);
    if (from === 'books' && live) {
      files.push(...(await writeLiveDay(live.open(day), folder, options.signal)));
    }
    if (from === 'archive' && place) files.push(...(await bringArchivedDay(place, day, folder)));
    options.onDay?.({ date: dateOfDay(day), from, done: index + 1, days: days.length });
  }
  return files;
}

function isAsked({ fromMs = -Infinity, toMs = Infinity }: QueryOptions, day: number): boolean {
  return (day + 1) * MS_PER_DAY > fromMs && day * MS_PER_DAY < toMs;
}

async function bringArchivedDay(
  place: ArchiveStore,
  day: number,
  folder: string,
): Promise<string[]> {
  const manifest = await readManifest(place, day);
  return manifest === undefined ? [] : await bringDayHere(place, manifest, folder);
}

async function writeLiveDay(
  source: DaySource,
  tempFolder: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const paths: string[] = [];
  for await (const file of writeParquet(source, { tempFolder, signal })) paths.push(file.path);
  return paths;
}

async function createView(
  duckDb: DuckDb,
  files: readonly string[],
  { fromMs, toMs }: QueryOptions,
): Promise<void> {
  const paths = files.map((path) => quoteText(escapeGlob(path)));
  // Without a file, the table alone gives the columns their types.
  const stored =
    files.length === 0
      ? 'no_entries'
      : `read_parquet([${paths.join(', ')}], union_by_name = true, hive_partitioning = false)`;
  if (files.length === 0)
    await duckDb.run(`CREATE TABLE no_entries (${columnList(ENTRY_COLUMNS)})`);
  const bounds = [
    ...(fromMs === undefined ? [] : [`ms >= ${fromMs}`]),
    ...(toMs === undefined ? [] : [`ms < ${toMs}`]),
  ];
  const where = bounds.length > 0 ? `WHERE ${bounds.join(' AND ')}` : '';
  await duckDb.run(
    `CREATE VIEW entries AS
     SELECT *, make_timestamp_ms(ms) AS time, make_timestamp_ms(ms)::DATE AS date
     FROM ${stored} ${where}`,
  );
}

function columnList(columns: readonly DayColumn[]): string {
  return columns.map(({ name, type }) => `${quoteName(name)} ${SQL_TYPES[type]}`).join(', ');
}

/** From here on, DuckDB opens only these files and what it spills; no SQL can undo this. */
async function shutIn(duckDb: DuckDb, files: readonly string[]): Promise<void> {
  // A path and the pattern that stands for it are each looked up in this list.
  const paths = files.flatMap((path) => [path, escapeGlob(path)]).map(quoteText);
  await duckDb.run(`SET allowed_paths = [${paths.join(', ')}]`);
  await duckDb.run('SET enable_external_access = false');
  await duckDb.run('SET lock_configuration = true');
}
