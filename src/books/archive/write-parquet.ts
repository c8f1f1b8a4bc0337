import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DaySource, Row } from './day-source.ts';
import { addRows, compareDaySums, type DaySums, NO_DAY_SUMS } from './day-sums.ts';
import { type FileHash, hashFile } from './hash-file.ts';
import { type DuckDb, openDuckDb, quoteText, type TableWriter } from './open-duckdb.ts';
import { escapeGlob, sumParquet } from './parquet-sums.ts';

/** A finished file on this machine. */
interface ParquetFile extends FileHash {
  readonly path: string;
  readonly sums: DaySums;
}

export interface WriteOptions {
  /** Exists, is empty, and belongs to this call alone. */
  readonly tempFolder: string;
  readonly rowsPerFileMax?: number;
  readonly signal?: AbortSignal | undefined;
}

const ROWS_PER_FILE_MAX = 1_000_000;
const MEMORY_MAX = '128MB';
/** A smaller group takes less memory to write, a larger one fewer bytes. */
const ROW_GROUP_ROWS = 40_960;

/**
 * Writes a day as Parquet files, each checked against the rows that went in. The files do not grow
 * with the day, nor does the memory. The caller moves or deletes each file before it asks for the
 * next. A day without rows has no file.
 */
export async function* writeParquet(
  source: DaySource,
  options: WriteOptions,
): AsyncGenerator<ParquetFile, void, undefined> {
  const rowsMax = options.rowsPerFileMax ?? ROWS_PER_FILE_MAX;
  let part: OpenPart | undefined;
  let count = 0;
  try {
    for await (const page of source.rows()) {
      for (let start = 0; start < page.length; ) {
        options.signal?.throwIfAborted();
        part ??= await openPart(source, join(options.tempFolder, `part-${count++}`));
        const rows = page.slice(start, start + rowsMax - part.sums.rows);
        part.append(rows);
        start += rows.length;
        if (part.sums.rows < rowsMax) continue;
        const file = await part.finish();
        part = undefined;
        yield file;
      }
    }
    const file = await part?.finish();
    part = undefined;
    if (file !== undefined) yield file;
  } finally {
    part?.discard();
  }
}

interface OpenPart {
  readonly sums: DaySums;
  append(rows: readonly Row[]): void;
  finish(): Promise<ParquetFile>;
  discard(): void;
}

/**
 * The rows wait in a database file, since DuckDB writes a Parquet file only in one go. One
 * transaction keeps them out of its log.
 */
async function openPart(source: DaySource, folder: string): Promise<OpenPart> {
  await mkdir(folder);
  const duckDb = await openDuckDb({
    file: join(folder, 'rows.duckdb'),
    tempFolder: join(folder, 'spill'),
    memoryMax: MEMORY_MAX,
  });
  await duckDb.run('BEGIN');
  const table = await duckDb.createTable('part', source.columns);
  const path = `${folder}.parquet`;
  let sums = NO_DAY_SUMS;
  return {
    get sums() {
      return sums;
    },
    append: (rows) => {
      table.append(rows);
      sums = addRows(source.day, sums, rows);
    },
    finish: async () => {
      await copyTable(duckDb, table, path);
      const differences = compareDaySums(sums, await sumParquet(duckDb, path));
      if (differences.length > 0) throw new Error(`${path} is wrong: ${differences.join(', ')}`);
      duckDb.close();
      await rm(folder, { recursive: true });
      return { path, sums, ...(await hashFile(path)) };
    },
    discard: () => duckDb.close(),
  };
}

/** Compares every value of the file with the table. */
async function copyTable(duckDb: DuckDb, table: TableWriter, path: string): Promise<void> {
  table.finish();
  await duckDb.run('COMMIT');
  await duckDb.run(
    `COPY part TO ${quoteText(path)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP_ROWS})`,
  );
  const [[written] = []] = await duckDb.readAll('SELECT bit_xor(hash(part)) FROM part');
  const [[read] = []] = await duckDb.readAll(
    `SELECT bit_xor(hash(part)) FROM read_parquet(${quoteText(escapeGlob(path))}, hive_partitioning = false) AS part`,
  );
  if (written !== read) throw new Error(`${path} does not hold the rows that were written to it`);
}
