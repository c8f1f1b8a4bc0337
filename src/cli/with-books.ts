import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Books } from '../books/engine/books.ts';
import { migrateBooks } from '../books/engine/migrate-books.ts';
import { openBooks } from '../books/engine/open-books.ts';
import { booksTargetOf } from '../config/books-target-of.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { parseConfig } from '../config/parse-config.ts';
import { type ConfigSource, readConfigSource } from '../config/source/read-config-source.ts';
import { unixRedisTarget } from '../lib/address/redis-target.ts';
import { createLog } from '../log/create-log.ts';
import { connectRedis, type RedisConnection } from '../redis/connect-redis.ts';
import { probeRedis } from '../redis/probe-redis.ts';

const COMMAND_TIMEOUT_MS = 5_000;
const ATTEMPTS_MAX = 50;
const RETRY_DELAY_MS = 100;

interface WithBooksOptions {
  readonly configPath: string | undefined;
  /** Absent if the settings are in a file. */
  readonly readSource?: (() => Promise<ConfigSource>) | undefined;
  /** Whether the command only reads. */
  readonly isReader: boolean;
  readonly err: (text: string) => void;
  readonly progress: (text: string) => void;
}

export interface OpenedBooks {
  readonly config: Config;
  readonly books: Books;
  /** Throws when Redis does not answer within some seconds. */
  connect(): Promise<RedisConnection>;
  /** Ctrl-C, or a node that ends. */
  readonly signal: AbortSignal;
}

/** Runs a command on the books directly. The exit code is 1 if they cannot be reached. */
export async function withBooks(
  { configPath, readSource, isReader, err, progress }: WithBooksOptions,
  run: (opened: OpenedBooks) => Promise<number>,
): Promise<number> {
  const ending = new AbortController();
  const end = () => ending.abort(new Error('the command was ended'));
  const undos: (() => Promise<void>)[] = [];
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end);
  try {
    const config = parseConfig((await readSource?.()) ?? readConfigSource(configPath));
    const books = openBooks({ target: booksTargetOf(config), isReader, name: 'command' });
    undos.push(books.close);
    if (!isReader) await migrateBooks(books, Date.now());
    const connect = async () => {
      const connection = await connectAnswering(config);
      undos.push(connection.close);
      return connection;
    };
    return await run({ config, books, connect, signal: ending.signal });
  } catch (error) {
    if (error instanceof ConfigError) for (const problem of error.problems) err(problem);
    else err(`tollgate: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    progress('');
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, end);
    await Promise.allSettled(undos.map((undo) => undo()));
  }
}

async function connectAnswering({ redis, dataDir }: Config): Promise<RedisConnection> {
  const target = redis === 'embedded' ? unixRedisTarget(join(dataDir, 'redis.sock')) : redis;
  const connection = connectRedis({
    ...{ target, name: 'books-command', commandTimeoutMs: COMMAND_TIMEOUT_MS },
    log: createLog('error', 'books'),
  });
  for (let attempt = 1; ; attempt++) {
    try {
      await probeRedis(connection, attempt);
      return connection;
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX) {
        await connection.close();
        throw new Error(`Redis does not answer: ${(error as Error).message}`, { cause: error });
      }
      await sleep(RETRY_DELAY_MS);
    }
  }
}
