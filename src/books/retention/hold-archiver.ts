import { randomUUID } from 'node:crypto';
import { clearInterval, setInterval } from 'node:timers';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { ARCHIVER_KEY } from '../../redis/redis-keys.ts';

const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

type Connection = Pick<RedisConnection, 'send'>;

/**
 * Runs the work unless another process does it. If that process is killed, the work is free again
 * after half a minute. The signal ends the work if another process has taken it over.
 */
export async function holdArchiver(
  connection: Connection,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const own = randomUUID();
  const take = () => connection.send('set', [ARCHIVER_KEY, own, 'px', LEASE_MS, 'nx']);
  const read = () => connection.send('get', [ARCHIVER_KEY]);
  if ((await take()) === null) {
    throw new Error('another process archives the books at the moment');
  }
  const lost = new AbortController();
  const renew = async () => {
    const holder = await read();
    if (holder === own) await connection.send('pexpire', [ARCHIVER_KEY, LEASE_MS]);
    // A new master may not know of it.
    else if (holder === null) await take();
    else lost.abort(new Error('another process has begun to archive the books'));
  };
  const timer = setInterval(() => void renew().catch(() => {}), RENEW_MS);
  try {
    await run(lost.signal);
  } finally {
    clearInterval(timer);
    // Without Redis, the lease ends by itself.
    const holder = await read().catch(() => null);
    if (holder === own) await connection.send('del', [ARCHIVER_KEY]).catch(() => {});
  }
}
