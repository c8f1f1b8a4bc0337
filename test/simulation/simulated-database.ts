import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Books } from '../../src/books/engine/books.ts';
import { createLibsqlDialect } from '../../src/books/engine/libsql-dialect.ts';
import type { BooksTables } from '../../src/books/engine/tables.ts';
import type { SimulatedProcess, SimulatedTime } from './simulated-time.ts';

const LOCK_POLL_MS = 2;

/** What the line to the database does, as opposed to what is wrong with a query. */
export class DatabaseFault extends Error {}

/**
 * One database for all nodes: real SQL in memory, behind a line that is slow, breaks, and loses the
 * answers of commits. What a dead process has not committed is undone.
 */
export interface SimulatedDatabase {
  isAway: boolean;
  delayMaxMs: number;
  /** The share of commits that are carried out, but whose answer is lost. */
  lostShare: number;
  /** The books, as a process reaches them. */
  open(process: SimulatedProcess): Books;
  /** The same past all faults, for whoever looks at the end. */
  readonly books: Books;
}

/** The engine is loaded before the simulated time begins. */
export async function loadEngine(): Promise<Driver> {
  const driver = createLibsqlDialect({ path: ':memory:', isReader: false }).createDriver();
  await driver.init();
  return driver;
}

export async function createSimulatedDatabase(
  time: SimulatedTime,
  driver: Driver,
): Promise<SimulatedDatabase> {
  const connection = await driver.acquireConnection();
  const settings = {};
  let holder: SimulatedProcess | undefined;
  let isInTransaction = false;

  const rollback = async () => {
    if (isInTransaction) await driver.rollbackTransaction(connection);
    isInTransaction = false;
  };

  const wait = async () => {
    await time.wait(time.random.next() * database.delayMaxMs);
    if (!database.isAway) return;
    // The server notices as well.
    await rollback();
    throw new DatabaseFault('Connection terminated unexpectedly');
  };

  const createNodeDriver = (process: SimulatedProcess): Driver => ({
    async init() {},
    async acquireConnection() {
      while (holder?.isAlive) await time.wait(LOCK_POLL_MS);
      holder = process;
      // What a process that died in the middle of a transaction left.
      await rollback();
      return {
        async executeQuery<Row>(query: CompiledQuery) {
          await wait();
          return await connection.executeQuery<Row>(query);
        },
        streamQuery: (query, chunk) => connection.streamQuery(query, chunk),
      } as DatabaseConnection;
    },
    async beginTransaction() {
      await wait();
      await driver.beginTransaction(connection, settings);
      isInTransaction = true;
    },
    async commitTransaction() {
      await wait();
      if (!isInTransaction) throw new DatabaseFault('the transaction was rolled back');
      await driver.commitTransaction(connection);
      isInTransaction = false;
      if (time.random.chance(database.lostShare)) throw new DatabaseFault('the answer is lost');
      await time.wait(time.random.next() * database.delayMaxMs);
    },
    rollbackTransaction: rollback,
    async releaseConnection() {
      holder = undefined;
    },
    async destroy() {},
  });

  const openBy = (nodeDriver: Driver): Books => {
    const db = new Kysely<BooksTables>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => nodeDriver,
        createIntrospector: (kysely) => new SqliteIntrospector(kysely),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    });
    return { engine: 'libsql', db, close: () => db.destroy() };
  };

  const direct: Driver = {
    ...driver,
    init: async () => {},
    acquireConnection: async () => {
      await rollback();
      return connection;
    },
    releaseConnection: async () => {},
  };
  const database: SimulatedDatabase = {
    ...{ isAway: false, delayMaxMs: 2, lostShare: 0 },
    open: (process) => openBy(createNodeDriver(process)),
    books: openBy(direct),
  };
  return database;
}
