import { waitUntil } from '../wait-until.ts';
import { createFakeClock, FAKE_CLOCK_LIBRARY, type FakeClock } from './fake-clock.ts';
import { startRedisServer, type TestRedisServer } from './start-redis-server.ts';

export interface ClockedRedis extends TestRedisServer {
  /** Sets the server's clock this far ahead of this machine's. Resolves when the server uses it. */
  setAhead(seconds: number): Promise<void>;
}

/**
 * The C library's allocator is preloaded second, because libfaketime cannot start under jemalloc,
 * which Debian's Redis links: each calls the other before it is ready.
 */
const PRELOADED = `${FAKE_CLOCK_LIBRARY} libc_malloc_debug.so.0`;
/** A command and a tick of the server pass between the two clock readings that are compared. */
const TOLERANCE_SECONDS = 5;

/** The environment of a server that goes by this clock. */
export function clockedEnv(clock: FakeClock): Readonly<Record<string, string>> {
  return { ...clock.env, LD_PRELOAD: PRELOADED };
}

/** A server whose wall clock the test sets while it runs. */
export async function startClockedRedis(
  args: readonly string[],
  clock: FakeClock = createFakeClock(0),
): Promise<ClockedRedis> {
  const server = await startRedisServer({ args, env: clockedEnv(clock) });
  return {
    ...server,
    async setAhead(seconds) {
      clock.set(seconds);
      await waitUntil(async () => {
        const [serverSeconds] = (await server.cli('TIME')).split('\n');
        const ahead = Number(serverSeconds) - Date.now() / 1_000;
        return Math.abs(ahead - seconds) < TOLERANCE_SECONDS;
      }, `the clock of Redis is ${seconds} s ahead`);
    },
  };
}
