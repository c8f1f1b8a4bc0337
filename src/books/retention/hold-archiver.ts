import { randomUUID } from 'node:crypto';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { ARCHIVER_KEY } from '../../redis/redis-keys.ts';
import type { Books } from '../engine/books.ts';
import { keepFact, recallFact } from '../engine/facts.ts';

const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
const TRY_AGAIN_MS = 500;
/** The last run that has begun. */
const FACT = 'archiver';

interface Run {
  readonly run: string;
}

interface HoldOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly books: Pick<Books, 'db'>;
  readonly signal: AbortSignal;
}

interface ArchiverLease {
  /** Ends the work if another process has taken it over. */
  readonly signal: AbortSignal;
  /**
   * Throws, and ends the work, if another process has begun it since, even if that one is done.
   * The books show that, since this process may have stood still for longer than its lease.
   */
  confirm(): Promise<void>;
}

/**
 * Runs the work unless another process does it. If that process was killed, the work is free again
 * after half a minute, for which this waits.
 */
export async function holdArchiver(
  { connection, books: { db }, signal: stopped }: HoldOptions,
  run: (lease: ArchiverLease) => Promise<void>,
): Promise<void> {
  const own = randomUUID();
  const take = () => connection.send('set', [ARCHIVER_KEY, own, 'px', LEASE_MS, 'nx']);
  /** A clock of Redis that was set back would keep the lease of a dead process as long as that. */
  const shorten = () => connection.send('pexpire', [ARCHIVER_KEY, LEASE_MS, 'LT']);
  const read = () => connection.send('get', [ARCHIVER_KEY]);
  const giveUpMs = performance.now() + LEASE_MS + TRY_AGAIN_MS;
  while ((await take()) === null) {
    await shorten();
    if (performance.now() > giveUpMs) {
      throw new Error('another process archives the books at the moment');
    }
    await sleep(TRY_AGAIN_MS, undefined, { signal: stopped });
  }
  const lost = new AbortController();
  const lose = () => lost.abort(new Error('another process has begun to archive the books'));
  const renew = async () => {
    const holder = await read();
    if (holder === own) await connection.send('pexpire', [ARCHIVER_KEY, LEASE_MS]);
    // A new master may not know the lease.
    else if (holder === null) await take();
    else lose();
  };
  const confirm = async () => {
    const last = await recallFact<Run>(db, FACT);
    if (last?.run !== own) lose();
    lost.signal.throwIfAborted();
  };
  const timer = setInterval(() => void renew().catch(() => {}), RENEW_MS);
  try {
    await keepFact(db, FACT, { run: own } satisfies Run);
    await run({ signal: lost.signal, confirm });
  } finally {
    clearInterval(timer);
    // Without Redis, the lease ends by itself.
    const holder = await read().catch(() => null);
    if (holder === own) await connection.send('del', [ARCHIVER_KEY]).catch(() => {});
  }
}
