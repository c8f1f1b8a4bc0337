import { join } from 'node:path';
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import type { BooksTarget } from '../../lib/address/books-target.ts';
import type { Books } from './books.ts';
import { createLibsqlDialect, type LibsqlOptions } from './libsql-dialect.ts';
import type { BooksTables } from './tables.ts';

export const BOOKS_FILE = 'books.db';
const CONNECT_TIMEOUT_MS = 5_000;
/** No question and no batch takes this long; a lost connection is noticed then. */
const STATEMENT_TIMEOUT_MS = 120_000;
/** The text of the client's error. */
const NO_ANSWER = 'Query read timeout';
const IDLE_TIMEOUT_MS = 60_000;
/** No transaction of ours rests this long. The server ends that of a process that hangs. */
const TRANSACTION_REST_MS_MAX = 30_000;
/**
 * How the server notices that a machine is gone, which closes no connection: until then its locks
 * stay, and by default the server would keep the connection for two hours.
 */
const SERVER_SETTINGS = {
  ...{ tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 4 },
  tcp_user_timeout: 30_000,
  // Whatever the role has by default: after waiting for a lock, one must see what has changed.
  default_transaction_isolation: 'read committed',
};

interface OpenBooksOptions {
  readonly target: BooksTarget;
  /** A reader cannot write, and never makes the file. */
  readonly isReader: boolean;
  /** Names the connections for those who inspect the server. */
  readonly name: string;
  /** For each statement in Postgres, if some take longer than questions and batches do. */
  readonly timeoutMs?: number;
  /** For a file, whose statements occupy the core of their caller. */
  readonly takeRest?: LibsqlOptions['takeRest'];
}

/** Connects at the first use. */
export function openBooks(options: OpenBooksOptions): Books {
  const { target, isReader, takeRest } = options;
  if (target.kind === 'file') {
    const path = join(target.dir, BOOKS_FILE);
    const dialect = createLibsqlDialect({ path, isReader, takeRest });
    const db = new Kysely<BooksTables>({ dialect });
    return { engine: 'libsql', db, close: () => db.destroy() };
  }
  const pool = async () => closeSilent(await openPool(target, options));
  const db = new Kysely<BooksTables>({ dialect: new PostgresDialect({ pool }) });
  return { engine: 'postgres', db, close: () => db.destroy() };
}

/** Where the books are a file, the client of Postgres takes no memory. */
async function openPool(
  target: Extract<BooksTarget, { kind: 'postgres' }>,
  { isReader, name, timeoutMs = STATEMENT_TIMEOUT_MS }: OpenBooksOptions,
): Promise<pg.Pool> {
  const { Pool, types } = (await import('pg')).default;
  // Otherwise they come as texts; every amount is exact in a double.
  const numbers = [types.builtins.INT8, types.builtins.NUMERIC];
  const getTypeParser: typeof types.getTypeParser = (id: number, format?: unknown) =>
    numbers.includes(id) ? Number : types.getTypeParser(id, format as 'text');
  const pool = new Pool({
    connectionString: target.url,
    max: target.connectionsMax,
    application_name: `tollgate ${name}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs,
    idle_in_transaction_session_timeout: TRANSACTION_REST_MS_MAX,
    keepAlive: true,
    types: { getTypeParser },
    options: encodeSettings({
      ...SERVER_SETTINGS,
      ...(isReader && { default_transaction_read_only: 'on' }),
    }),
  });
  // An idle connection that breaks is replaced at the next use.
  pool.on('error', () => {});
  // A connection that breaks between two statements of a transaction fails the next of them.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function encodeSettings(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`)
    .join(' ');
}

/**
 * Closes a connection that has left a query without an answer. The client would keep it, and let
 * the next caller wait behind that query, for as long as the system thinks that it is alive.
 */
function closeSilent(pool: pg.Pool): PostgresPool {
  return {
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      let isSilent = false;
      const query = async (text: string, parameters: readonly unknown[]) => {
        if (isSilent) throw new Error(`Connection terminated: ${NO_ANSWER}`);
        try {
          return await client.query(text, [...parameters]);
        } catch (error) {
          isSilent ||= error instanceof Error && error.message === NO_ANSWER;
          throw error;
        }
      };
      const release = () => client.release(isSilent);
      // There are no cursors.
      return { query, release } as unknown as PostgresPoolClient;
    },
  };
}
