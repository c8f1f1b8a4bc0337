import type { RedisConnection } from '../../redis/connect-redis.ts';
import { readBooksProgress } from '../stream/books-lease.ts';

export interface LagReader {
  read(): Promise<void>;
  /**
   * How far the books are behind by the clock of Redis; undefined before that was read, and where
   * nothing was read into any books. It grows while no node writes, and while Redis is out.
   */
  lagMs(): number | undefined;
}

/** Reads what the writer of the books shares with all nodes, which remains when it ends. */
export function createLagReader(connection: Pick<RedisConnection, 'send'>): LagReader {
  let known: { readonly lagMs: number; readonly readMs: number } | undefined;
  return {
    async read() {
      const [progress, time] = await Promise.all([
        readBooksProgress(connection),
        connection.send('time', []),
      ]);
      const [seconds, micros] = (time as string[]).map(Number);
      const nowMs = (seconds ?? Number.NaN) * 1_000 + (micros ?? 0) / 1_000;
      known = progress && { lagMs: nowMs - progress.untilMs, readMs: performance.now() };
    },
    lagMs() {
      if (known === undefined) return undefined;
      return Math.max(0, known.lagMs + performance.now() - known.readMs);
    },
  };
}
