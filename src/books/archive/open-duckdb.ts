import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import type { Cell, DayColumn, DayColumnType, Row } from './day-source.ts';

type Api = typeof import('@duckdb/node-api');

/** A value of an answer. Lists, structs and the like are plain JSON. */
export type ResultCell = null | boolean | number | bigint | string | object;

export interface QueryResult {
  readonly columns: readonly string[];
  /** In pages, as DuckDB computes them. */
  readonly rows: AsyncIterable<readonly (readonly ResultCell[])[]>;
}

export interface DuckDb {
  run(sql: string): Promise<void>;
  /** All rows of a short answer. */
  readAll(sql: string): Promise<readonly (readonly ResultCell[])[]>;
  /** Refuses all but one SELECT. */
  select(sql: string): Promise<QueryResult>;
  createTable(name: string, columns: readonly DayColumn[]): Promise<TableWriter>;
  /** Ends what runs now. */
  interrupt(): void;
  close(): void;
}

export interface TableWriter {
  append(rows: readonly Row[]): void;
  finish(): void;
}

interface DuckDbOptions {
  /** Where tables are kept; without it, in memory. */
  readonly file?: string;
  /** What does not fit into the memory goes here. */
  readonly tempFolder: string;
  /** `192MB`. DuckDB's own bound: the process needs more. */
  readonly memoryMax: string;
}

/** The most rows that a chunk of DuckDB can hold. */
const CHUNK_ROWS = 2048;
/** The appender keeps this much outside the limit of memory. */
const UNFLUSHED_CHUNKS_MAX = 10;

/**
 * Loads DuckDB, which takes about 60 MB of memory: only short-lived processes may call this. One
 * thread leaves the other cores to the node.
 */
export async function openDuckDb(options: DuckDbOptions): Promise<DuckDb> {
  const api = await import('@duckdb/node-api');
  const instance = await api.DuckDBInstance.create(options.file ?? ':memory:', {
    memory_limit: options.memoryMax,
    temp_directory: options.tempFolder,
    threads: '1',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  const readAll = async (sql: string) => {
    const reader = await connection.runAndReadAll(sql);
    return reader.getRows().map((row) => row.map((value) => toResultCell(api, value)));
  };
  return {
    run: async (sql) => {
      await connection.run(sql);
    },
    readAll,
    select: (sql) => select(api, connection, sql),
    createTable: async (name, columns) => {
      const typed = columns.map((column) => `${quoteName(column.name)} ${SQL_TYPES[column.type]}`);
      await connection.run(`CREATE TABLE ${name} (${typed.join(', ')})`);
      return createTableWriter(api, await connection.createAppender(name), columns);
    },
    interrupt: () => connection.interrupt(),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

export const SQL_TYPES: Readonly<Record<DayColumnType, string>> = {
  integer: 'BIGINT',
  text: 'VARCHAR',
  boolean: 'BOOLEAN',
  bytes: 'BLOB',
};

function typeOf(api: Api, type: DayColumnType): DuckDBType {
  if (type === 'integer') return api.BIGINT;
  if (type === 'boolean') return api.BOOLEAN;
  return type === 'text' ? api.VARCHAR : api.BLOB;
}

function createTableWriter(
  api: Api,
  appender: Awaited<ReturnType<DuckDBConnection['createAppender']>>,
  columns: readonly DayColumn[],
): TableWriter {
  // One chunk serves all rows: the memory of a chunk is freed late.
  const chunk = api.DuckDBDataChunk.create(columns.map(({ type }) => typeOf(api, type)));
  let unflushed = 0;
  return {
    append: (rows) => {
      for (let start = 0; start < rows.length; start += CHUNK_ROWS) {
        const some = rows.slice(start, start + CHUNK_ROWS);
        chunk.reset();
        chunk.rowCount = some.length;
        for (const [index, column] of columns.entries()) {
          const values = some.map((row) => toStored(api, row[column.name], column));
          chunk.setColumnValues(index, values);
        }
        appender.appendDataChunk(chunk);
        unflushed = (unflushed + 1) % UNFLUSHED_CHUNKS_MAX;
        if (unflushed === 0) appender.flushSync();
      }
    },
    finish: () => appender.closeSync(),
  };
}

function toStored(api: Api, value: Cell | undefined, column: DayColumn): DuckDBValue {
  if (value === null) return null;
  const { type } = column;
  if (type === 'integer' && typeof value === 'bigint') return value;
  if (type === 'integer' && Number.isSafeInteger(value)) return BigInt(value as number);
  if (type === 'text' && typeof value === 'string') return value;
  if (type === 'bytes' && value instanceof Uint8Array) return api.blobValue(value);
  if (type === 'boolean' && typeof value === 'boolean') return value;
  if (type === 'boolean' && (value === 0 || value === 1)) return value === 1;
  throw new Error(`column ${column.name} takes no ${typeof value} as ${type}`);
}

async function select(api: Api, connection: DuckDBConnection, sql: string): Promise<QueryResult> {
  if (sql.trim() === '') throw new Error('the query is empty');
  const statements = await connection.extractStatements(sql);
  if (statements.count !== 1) throw new Error('a query is one SELECT, not several statements');
  const statement = await statements.prepare(0);
  if (statement.statementType !== api.StatementType.SELECT) {
    throw new Error('a query is a SELECT: the books cannot be changed');
  }
  const result = await statement.stream();
  const readRows = async function* () {
    for await (const rows of result.yieldRows()) {
      yield rows.map((row) => row.map((value) => toResultCell(api, value)));
    }
  };
  return { columns: result.columnNames(), rows: readRows() };
}

function toResultCell(api: Api, value: DuckDBValue): ResultCell {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof api.DuckDBBlobValue) return Buffer.from(value.bytes).toString('hex');
  if (value instanceof api.DuckDBDecimalValue) return value.toDouble();
  if (value instanceof api.DuckDBTimestampValue || value instanceof api.DuckDBTimestampTZValue) {
    return formatTimestamp(new api.DuckDBTimestampValue(value.micros).toString());
  }
  if (value instanceof api.DuckDBListValue || value instanceof api.DuckDBArrayValue) {
    return value.items.map((item) => toNested(toResultCell(api, item)));
  }
  if (value instanceof api.DuckDBStructValue) {
    return Object.fromEntries(
      Object.entries(value.entries).map(([name, item]) => [
        name,
        toNested(toResultCell(api, item)),
      ]),
    );
  }
  return value.toString();
}

/** A bigint cannot be written as JSON. */
function toNested(cell: ResultCell): ResultCell {
  return typeof cell === 'bigint' ? cell.toString() : cell;
}

/** `2026-11-23T10:00:00.000Z` of `2026-11-23 10:00:00`, with more digits where there are more. */
function formatTimestamp(text: string): string {
  const [, date, time, fraction = ''] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)?$/.exec(text) ?? [];
  return date === undefined ? text : `${date}T${time}${(fraction || '.').padEnd(4, '0')}Z`;
}
