import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { createDeferred } from '../lib/time/deferred.ts';
import { waitAtMost } from '../timers/wait-at-most.ts';
import { type Breaker, callThrough } from './breaker.ts';
import type { RedisConnection } from './connect-redis.ts';
import { probeRedis } from './probe-redis.ts';

export const PROBE_INTERVAL_MS = 1_000;
/**
 * While Redis is out, probes are more frequent, to notice its return as soon as the breaker lets a
 * call through.
 */
const PROBE_OUT_INTERVAL_MS = 250;
/**
 * With a greater difference the times in answers and those in the ledger would contradict each
 * other.
 */
const CLOCK_SKEW_WARN_MS = 2_000;

export interface RedisWatch {
  /**
   * 0 if the last probe succeeded; else the time since the first failed probe, or since the start.
   */
  outForMs(): number;
  /** Whether any probe has succeeded yet. */
  wasSeen(): boolean;
  /**
   * How far the server's clock is ahead of ours, to about half a round trip; 0 until it is known.
   */
  clockSkewMs(): number;
  /** Resolves with the first success, or when the time is up. */
  waitUntilSeen(timeMaxMs: number): Promise<void>;
  stop(): void;
}

interface WatchRedisOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly breaker: Breaker;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Asks about once a second whether Redis would accept an admission. The next probe starts when the
 * last one has ended, which the connection's command timeout makes sure of. Probes go through the
 * breaker, so that it opens and closes even while nobody calls.
 */
export function watchRedis({ connection, breaker, clock, log }: WatchRedisOptions): RedisWatch {
  let outSinceMs: number | undefined = clock.nowMs();
  let wasSeen = false;
  let isSkewed = false;
  let skewMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const seen = createDeferred();

  const noteSuccess = (sentMs: number, serverMs: number) => {
    const nowMs = clock.nowMs();
    skewMs = Math.round(serverMs - (sentMs + nowMs) / 2);
    if (isSkewed !== Math.abs(skewMs) > CLOCK_SKEW_WARN_MS) {
      isSkewed = !isSkewed;
      if (isSkewed) log.warn({ skewMs }, 'the clocks of Redis and this machine differ');
    }
    if (outSinceMs !== undefined && wasSeen) {
      log.info({ outForMs: nowMs - outSinceMs }, 'Redis accepts writes again');
    }
    outSinceMs = undefined;
    wasSeen = true;
    seen.resolve();
  };
  const noteFailure = (error: unknown) => {
    if (outSinceMs !== undefined) return;
    outSinceMs = clock.nowMs();
    log.warn({ reason: (error as Error).message }, 'Redis does not accept writes');
  };

  const probe = async (round: number): Promise<void> => {
    const sentMs = clock.nowMs();
    await callThrough(breaker, () => probeRedis(connection, round)).then(
      (serverMs) => {
        if (!isStopped) noteSuccess(sentMs, serverMs);
      },
      (error: unknown) => {
        if (!isStopped) noteFailure(error);
      },
    );
    if (isStopped) return;
    const delayMs = outSinceMs === undefined ? PROBE_INTERVAL_MS : PROBE_OUT_INTERVAL_MS;
    timer = setTimeout(probe, delayMs, round + 1).unref();
  };
  void probe(0);

  return {
    outForMs: () => (outSinceMs === undefined ? 0 : Math.max(1, clock.nowMs() - outSinceMs)),
    wasSeen: () => wasSeen,
    clockSkewMs: () => skewMs,
    waitUntilSeen: (timeMaxMs) => waitAtMost(timeMaxMs, seen.promise),
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
