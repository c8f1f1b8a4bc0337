import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../wait-until.ts';
import { makeTempFolder, startRedisServer, type TestRedisServer } from './start-redis-server.ts';

export interface ClockedRedis extends TestRedisServer {
  /** Sets the server's clock this far ahead of this machine's. Resolves when the server uses it. */
  setAhead(seconds: number): Promise<void>;
}

/**
 * The C library's allocator is preloaded second, because libfaketime cannot start under jemalloc,
 * which Debian's Redis links: each calls the other before it is ready. The loader expands `$LIB`.
 */
const PRELOADED = '/usr/$LIB/faketime/libfaketimeMT.so.1 libc_malloc_debug.so.0';
/** A command and a tick of the server pass between the two clock readings that are compared. */
const TOLERANCE_SECONDS = 5;

/**
 * A server whose wall clock the test sets while it runs. Its monotonic clock goes on, as with a
 * real step.
 */
export async function startClockedRedis(args: readonly string[]): Promise<ClockedRedis> {
  const path = join(makeTempFolder(), 'ahead');
  const write = (seconds: number) => {
    writeFileSync(`${path}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    renameSync(`${path}.new`, path);
  };
  write(0);
  const server = await startRedisServer({
    args,
    env: {
      LD_PRELOAD: PRELOADED,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  });
  return {
    ...server,
    async setAhead(seconds) {
      write(seconds);
      await waitUntil(async () => {
        const [serverSeconds] = (await server.cli('TIME')).split('\n');
        const ahead = Number(serverSeconds) - Date.now() / 1_000;
        return Math.abs(ahead - seconds) < TOLERANCE_SECONDS;
      }, `the clock of Redis is ${seconds} s ahead`);
    },
  };
}
