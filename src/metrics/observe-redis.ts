import type { Breaker } from '../redis/breaker.ts';
import { classifyRedisError } from '../redis/classify-redis-error.ts';
import type { REDIS_CONNECTIONS } from './label-sets.ts';
import type { ProcessMetrics } from './process-metrics.ts';

/** Each node of a Cluster has its own breaker. */
export function watchBreakers(metrics: ProcessMetrics, breakers: Iterable<Breaker>): void {
  const all = [...new Set(breakers)];
  metrics.redisBreakersOpen.watch((set) => {
    set({}, all.filter((breaker) => breaker.state() !== 'closed').length);
  });
}

/** Call the result with each command of a connection. */
export function createObserveCommand(
  metrics: ProcessMetrics,
  connection: (typeof REDIS_CONNECTIONS)[number],
): (tookMs: number, error?: unknown) => void {
  const seconds = metrics.redisSeconds.at({ connection });
  return (tookMs, error) => {
    if (error === undefined) seconds.observe(tookMs / 1_000);
    else metrics.redisErrors.at({ connection, kind: classifyRedisError(error) }).add(1);
  };
}
