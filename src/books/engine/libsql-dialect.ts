import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type Database from 'libsql';
import type { Statement } from 'libsql';

/** Statements that are kept ready. A batch repeats a dozen of them for each row. */
const STATEMENTS_MAX = 256;
/** How long a write waits for that of another process. */
const BUSY_TIMEOUT_MS = 20_000;
/**
 * In KiB: how much of the file the engine keeps in memory. The system keeps more of it. Twice as
 * much for the writer would save some 10 % of its CPU time.
 */
const CACHE_KIB = { reader: 4_096, writer: 8_192 };

export interface LibsqlOptions {
  readonly path: string;
  /** A reader never waits for a writer, and cannot write. */
  readonly isReader: boolean;
  /** Called after each statement that writes. */
  readonly takeRest?: (() => Promise<void> | undefined) | undefined;
}

/**
 * Kysely's dialect for libsql, whose calls block the thread. It has one connection, which one
 * caller at a time may use.
 */
export function createLibsqlDialect(options: LibsqlOptions): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(options),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function createDriver({ path, isReader, takeRest }: LibsqlOptions): Driver {
  let database: Database.Database | undefined;
  let connection: DatabaseConnection | undefined;
  let lastTurn: Promise<void> = Promise.resolve();
  let endTurn = () => {};

  const run = async (sql: string) => {
    await connection?.executeQuery(CompiledQuery.raw(sql));
  };

  return {
    async init() {
      if (!isReader) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // Where the books are in Postgres, it takes no memory.
      const libsql = await import('libsql');
      database = new libsql.default(path);
      database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
      if (!isReader) database.exec('pragma journal_mode = wal');
      // A commit is on the disk before anything is trimmed behind it.
      database.exec('pragma synchronous = full');
      database.exec(`pragma cache_size = -${isReader ? CACHE_KIB.reader : CACHE_KIB.writer}`);
      if (isReader) database.exec('pragma query_only = on');
      connection = createConnection(database, takeRest);
    },
    async acquireConnection() {
      const turn = lastTurn;
      lastTurn = new Promise((resolve) => {
        const end = resolve;
        void turn.then(() => {
          endTurn = end;
        });
      });
      await turn;
      if (connection === undefined) throw new Error('the books are closed');
      return connection;
    },
    async releaseConnection() {
      endTurn();
    },
    // A transaction that only reads keeps nobody from writing.
    beginTransaction: (_, { accessMode }) =>
      run(isReader || accessMode === 'read only' ? 'begin' : 'begin immediate'),
    commitTransaction: () => run('commit'),
    rollbackTransaction: () => run('rollback'),
    async destroy() {
      connection = undefined;
      database?.close();
    },
  };
}

function createConnection(
  database: Database.Database,
  takeRest: LibsqlOptions['takeRest'],
): DatabaseConnection {
  const statements = new Map<string, ReadyStatement>();

  const prepare = (sql: string): ReadyStatement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = prepareStatement(database, sql);
    const oldest = statements.keys().next().value;
    if (statements.size >= STATEMENTS_MAX && oldest !== undefined) statements.delete(oldest);
    statements.set(sql, statement);
    return statement;
  };

  return {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const { statement, blobs } = prepare(sql);
      if (statement.reader) return { rows: statement.all(parameters).map(readRow<Row>(blobs)) };
      const { changes } = statement.run(parameters);
      const resting = takeRest?.();
      if (resting !== undefined) await resting;
      return { numAffectedRows: BigInt(changes), rows: [] };
    },
    async *streamQuery<Row>({ sql, parameters }: CompiledQuery) {
      const { statement, blobs } = prepare(sql);
      const read = readRow<Row>(blobs);
      for (const row of statement.iterate(parameters)) yield { rows: [read(row)] };
    },
  };
}

interface ReadyStatement {
  readonly statement: Statement;
  /** The columns whose values are bytes. */
  readonly blobs: readonly string[];
}

function prepareStatement(database: Database.Database, sql: string): ReadyStatement {
  const statement = database.prepare(sql);
  const columns = statement.reader ? statement.columns() : [];
  const blobs = columns.filter(({ type }) => type?.toLowerCase() === 'blob');
  return { statement, blobs: blobs.map(({ name }) => name) };
}

/** libsql returns bytes as `ArrayBuffer`. */
function readRow<Row>(blobs: readonly string[]): (row: unknown) => Row {
  return (row) => {
    const values = row as Record<string, unknown>;
    for (const name of blobs) {
      const value = values[name];
      if (value instanceof ArrayBuffer) values[name] = Buffer.from(value);
    }
    return values as Row;
  };
}
