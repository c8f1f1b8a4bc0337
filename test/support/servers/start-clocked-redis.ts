import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../wait-until.ts';
import { makeTempFolder, startRedisServer, type TestRedisServer } from './start-redis-server.ts';

export interface ClockedRedis extends TestRedisServer {
  /** Sets the server's clock so far ahead of this machine's; resolves when the server goes by it. */
  setAhead(seconds: number): Promise<void>;
}

/**
 * The allocator of the C library comes second, since libfaketime cannot start under jemalloc, which Debian's Redis is
 * linked with: each asks the other before it is ready. `$LIB` is for the loader.
 */
const PRELOADED = '/usr/$LIB/faketime/libfaketimeMT.so.1 libc_malloc_debug.so.0';
/** A command and a tick of the server lie between the two clocks that are compared. */
const TOLERANCE_SECONDS = 5;

/** A server whose wall clock the test sets while it runs. Its monotonic clock goes on, as with a real step. */
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
