import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { msOfDay, nameDay } from '../engine/days.ts';
import { bringDayHere } from '../retention/bring-day-here.ts';
import type { ArchiveStore } from './archive-store.ts';
import type { DayColumn, DaySource } from './day-source.ts';
import { encodeResult, type ResultFormat } from './encode-result.ts';
import { ENTRY_COLUMNS } from './entry-columns.ts';
import { makeOwnFolder } from './make-own-folder.ts';
import { listArchivedDays, readManifest } from './manifest.ts';
import { type DuckDb, openDuckDb, quoteName, quoteText, SQL_TYPES } from './open-duckdb.ts';
import { escapeGlob } from './parquet-sums.ts';
import { writeParquet } from './write-parquet.ts';

/** What the books themselves have of the days that they know. */
export interface LiveDays {
  list(): Promise<readonly LiveDay[]>;
  open(day: number): DaySource;
}

export interface LiveDay {
  readonly day: number;
  /** `rest` is what the archive lacks. Unless the books have all, the archive has the others. */
  readonly has: 'all' | 'rest' | 'nothing';
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
/** Interruptions are repeated: DuckDB forgets one that comes before the query has begun. */
const INTERRUPT_MS = 100;

/**
 * Answers a SELECT over the view `entries`: the live days, and the archived ones. Besides the
 * columns of an entry it has `time` and `date`, in UTC. The query can read nothing else on this
 * machine, and change nothing.
 */
export async function* queryBooks(
  sql: string,
  options: QueryOptions,
): AsyncGenerator<string, void, undefined> {
  const tempFolder = await makeOwnFolder(options.tempFolder);
  let duckDb: DuckDb | undefined;
  let interrupting: NodeJS.Timeout | undefined;
  const interrupt = () => {
    duckDb?.interrupt();
    interrupting = setTimeout(interrupt, INTERRUPT_MS);
  };
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
    clearTimeout(interrupting);
    duckDb?.close();
    await rm(tempFolder, { recursive: true });
  }
}

/** The paths of all Parquet files of the days in question. */
async function gatherFiles(options: QueryOptions, tempFolder: string): Promise<string[]> {
  const { place, live } = options;
  // In this order, a day that leaves the books meanwhile is missed by neither.
  const known = ((await live?.list()) ?? []).filter(({ day }) => isAsked(options, day));
  const isWhole = new Set(known.filter(({ has }) => has === 'all').map(({ day }) => day));
  const archived = ((place && (await listArchivedDays(place))) ?? []).filter(
    (day) => isAsked(options, day) && !isWhole.has(day),
  );
  refuseMissing(place, known, archived);
  const days = [
    ...archived.map((day) => ({ day, from: 'archive' as const })),
    ...known
      .filter(({ has }) => has !== 'nothing')
      .map(({ day }) => ({ day, from: 'books' as const })),
  ].toSorted((one, other) => one.day - other.day);
  const files: string[] = [];
  for (const [index, { day, from }] of days.entries()) {
    options.signal?.throwIfAborted();
    const folder = join(tempFolder, `${from}-${nameDay(day)}`);
    await mkdir(folder);
    if (from === 'books' && live) {
      files.push(...(await writeLiveDay(live.open(day), folder, options.signal)));
    }
    if (from === 'archive' && place) files.push(...(await bringArchivedDay(place, day, folder)));
    options.onDay?.({ date: nameDay(day), from, done: index + 1, days: days.length });
  }
  refuseMoved(known, (await live?.list()) ?? []);
  return files;
}

/** An archive that is out of reach must not look like one that is empty. */
function refuseMissing(
  place: ArchiveStore | undefined,
  known: readonly LiveDay[],
  archived: readonly number[],
): void {
  const missing = known.find(({ day, has }) => has !== 'all' && !archived.includes(day));
  if (missing === undefined) return;
  const date = nameDay(missing.day);
  const cause = place === undefined ? 'books.archive is not set' : `${place.title} has no ${date}`;
  throw new Error(`${cause}, and the books do not have all entries of ${date} any more`);
}

/** A day that was brought back before it was read would be there twice. */
function refuseMoved(before: readonly LiveDay[], after: readonly LiveDay[]): void {
  const now = new Map(after.map(({ day, has }) => [day, has]));
  const moved = before.find(({ day, has }) => has !== 'all' && now.get(day) !== has);
  if (moved === undefined) return;
  const date = nameDay(moved.day);
  throw new Error(`${date} has left or entered the archive meanwhile: ask again`);
}

function isAsked({ fromMs = -Infinity, toMs = Infinity }: QueryOptions, day: number): boolean {
  return msOfDay(day + 1) > fromMs && msOfDay(day) < toMs;
}

async function bringArchivedDay(
  place: ArchiveStore,
  day: number,
  folder: string,
): Promise<string[]> {
  const manifest = await readManifest(place, day);
  if (manifest === undefined) {
    throw new Error(`${place.title} has no ${nameDay(day)} any more: ask again`);
  }
  return await bringDayHere(place, manifest, folder);
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
