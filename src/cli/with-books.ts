import { setTimeout as sleep } from 'node:timers/promises';
import type { Books } from '../books/engine/books.ts';
import { findBooksId, hasBooksFile, nameBooksPlace } from '../books/engine/find-books.ts';
import { migrateBooks } from '../books/engine/migrate-books.ts';
import { openBooks } from '../books/engine/open-books.ts';
import { readBooksId } from '../books/stream/books-lease.ts';
import { booksTargetOf } from '../config/books-target-of.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { parseConfig } from '../config/parse-config.ts';
import { type ConfigSource, readConfigSource } from '../config/source/read-config-source.ts';
import type { BooksTarget } from '../lib/address/books-target.ts';
import { unixRedisTarget } from '../lib/address/redis-target.ts';
import { describeError } from '../lib/describe-error.ts';
import { connectRedis, type RedisConnection } from '../redis/connect-redis.ts';
import { findRedisTrouble } from '../redis/probe-redis.ts';
import { createReasonLog } from '../redis/reason-log.ts';
import { redisSocketPath } from '../redis/server/redis-socket-path.ts';

const COMMAND_TIMEOUT_MS = 5_000;
const ATTEMPTS_MAX = 50;
const RETRY_DELAY_MS = 100;
/** Ctrl-C, a node that ends, or a terminal that was closed. */
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface WithBooksOptions {
  readonly configPath: string | undefined;
  /** Absent if the settings are in a file. */
  readonly readSource?: (() => Promise<ConfigSource>) | undefined;
  /** Only `make` makes books where there are none. */
  readonly access: 'read' | 'write' | 'make';
  /** Whether they have to be the books that entries go to. */
  readonly isOfFleet?: boolean;
  readonly err: (text: string) => void;
  readonly progress: (text: string) => void;
}

interface OpenedBooks {
  readonly config: Config;
  readonly books: Books;
  /** Where the books are, for people. */
  readonly place: string;
  /** Throws when Redis does not answer within some seconds. */
  connect(): Promise<RedisConnection>;
  /** Fires when the command has to end. */
  readonly signal: AbortSignal;
}

/** Runs a command on the books directly. The exit code is 1 if they cannot be reached. */
export async function withBooks(
  { configPath, readSource, access, isOfFleet, err, progress }: WithBooksOptions,
  run: (opened: OpenedBooks) => Promise<number>,
): Promise<number> {
  const ending = new AbortController();
  const end = () => ending.abort(new Error('the command was ended'));
  const undos: (() => Promise<void>)[] = [];
  for (const name of ENDING_SIGNALS) process.once(name, end);
  try {
    const config = parseConfig((await readSource?.()) ?? readConfigSource(configPath));
    const target = booksTargetOf(config);
    const place = nameBooksPlace(target);
    if (access !== 'make' && !(await hasBooksFile(target))) throw noBooks(target);
    const books = openBooks({ target, isReader: access === 'read', name: 'command' });
    undos.push(books.close);
    const connect = connectOnce(config, undos);
    const id = await findBooksId(books);
    if (access !== 'make' && id === undefined) throw noBooks(target);
    if (isOfFleet === true) await refuseOthers(await connect(), id, place);
    if (access !== 'read') await migrateBooks(books, Date.now());
    return await run({ config, books, place, connect, signal: ending.signal });
  } catch (error) {
    if (error instanceof ConfigError) for (const problem of error.problems) err(problem);
    else err(`tollgate: ${describeError(error)}`);
    return 1;
  } finally {
    progress('');
    for (const name of ENDING_SIGNALS) process.off(name, end);
    await Promise.allSettled(undos.map((undo) => undo()));
  }
}

function noBooks(target: BooksTarget): Error {
  const advice =
    target.kind === 'file'
      ? "run it where the node's data folder is, or set data_dir"
      : 'the first start of a node makes them';
  return new Error(`there are no books at ${nameBooksPlace(target)}: ${advice}`);
}

async function refuseOthers(
  connection: RedisConnection,
  id: string | undefined,
  place: string,
): Promise<void> {
  const known = await readBooksId(connection);
  if (known === undefined || known === id) return;
  throw new Error(`entries go to the books ${known}; these are ${id}, at ${place}`);
}

function connectOnce(config: Config, undos: (() => Promise<void>)[]): OpenedBooks['connect'] {
  let connecting: Promise<RedisConnection> | undefined;
  const connect = async () => {
    const connection = await connectAnswering(config);
    undos.push(connection.close);
    return connection;
  };
  return () => {
    connecting ??= connect();
    return connecting;
  };
}

async function connectAnswering({ redis, dataDir }: Config): Promise<RedisConnection> {
  const isEmbedded = redis === 'embedded';
  const target = isEmbedded ? unixRedisTarget(redisSocketPath(dataDir)) : redis;
  const log = createReasonLog();
  const order = { target, name: 'books-command', commandTimeoutMs: COMMAND_TIMEOUT_MS, log };
  const connection = connectRedis(order);
  for (let attempt = 1; ; attempt++) {
    const trouble = await findRedisTrouble(connection, log, attempt);
    if (trouble === undefined) return connection;
    if (attempt >= ATTEMPTS_MAX) {
      await connection.close();
      throw new Error(
        isEmbedded && /ENOENT|ECONNREFUSED/.test(trouble)
          ? `the node's own Redis runs only while the node does, and there is none in ${dataDir}`
          : `Redis does not answer: ${trouble}`,
      );
    }
    await sleep(RETRY_DELAY_MS);
  }
}
