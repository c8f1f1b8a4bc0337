import { expect, it } from 'vitest';
import { METRICS } from '../../../src/metrics/metrics.ts';
import { createProcessMetrics } from '../../../src/metrics/process-metrics.ts';
import { watchWorker } from '../../../src/worker/create-worker-metrics.ts';

it('a worker reports what it asks of upstreams until it ends, and of their health until it drains', () => {
  const names = { models: [], upstreams: ['main'], versions: ['1'], nodeVersions: ['v20'] };
  const metrics = createProcessMetrics(names);
  let isDraining = false;
  watchWorker(metrics, {
    server: { activeExchanges: 0, activeStreams: 0 },
    unread: { count: 0 },
    redisWatch: { outForMs: () => 0 },
    catalogueVersion: () => undefined,
    upstreams: {
      readReports() {
        const counts = { restMs: 0, inFlight: 3, concurrencyMax: 4 };
        return [{ name: 'main', health: 'half-open' as const, ...counts }];
      },
    },
    isDraining: () => isDraining,
  });
  const read = ({ name }: { readonly name: string }) =>
    metrics.read().find((metric) => metric.name === name)?.values ?? [];
  const inFlight = [{ labels: { upstream: 'main' }, value: 3 }];
  expect(read(METRICS.upstreamInFlight)).toEqual(inFlight);
  expect(read(METRICS.upstreamState)).toEqual([
    { labels: { upstream: 'main', state: 'half-open' }, value: 1 },
  ]);
  isDraining = true;
  expect(read(METRICS.upstreamInFlight)).toEqual(inFlight);
  expect(read(METRICS.upstreamState)).toEqual([]);
});
