import prometheus from 'prom-client';
import type { MetricSnapshot } from './metric-snapshot.ts';

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/** The metrics of several processes as one page. */
export async function printMetrics(
  snapshots: readonly (readonly MetricSnapshot[])[],
): Promise<MetricsText> {
  const registry = prometheus.AggregatorRegistry.aggregate([...snapshots]);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/**
 * Keeps metrics that only grow: a gauge says nothing once its process is gone or does not answer.
 */
export function keepGrowing(snapshot: readonly MetricSnapshot[]): MetricSnapshot[] {
  return snapshot.filter(({ type }) => type !== 'gauge');
}

export function countSamples(snapshot: readonly MetricSnapshot[]): number {
  return snapshot.reduce((sum, { values }) => sum + values.length, 0);
}

export function mergeSnapshots(
  snapshots: readonly (readonly MetricSnapshot[])[],
): MetricSnapshot[] {
  const merged = prometheus.AggregatorRegistry.aggregate([...snapshots]).getMetricsAsArray();
  return merged as unknown as MetricSnapshot[];
}
