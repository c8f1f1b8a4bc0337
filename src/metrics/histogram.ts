import type {
  ConfiguredSets,
  HistogramDeclaration,
  LabelSets,
  LabelValues,
} from './metric-declaration.ts';
import type { MetricSample, MetricSnapshot } from './metric-snapshot.ts';
import { createSeries } from './series.ts';

export interface HistogramCell {
  observe(value: number): void;
}

export interface Histogram<Labels extends LabelSets> {
  at(values: LabelValues<Labels>): HistogramCell;
  read(): MetricSnapshot;
}

interface Counts {
  /** One count for each bucket, and one more for values above all of them. */
  readonly counts: Float64Array;
  readonly sum: number;
}

export function createHistogram<Labels extends LabelSets>(
  { name, help, type, labels, buckets }: HistogramDeclaration<Labels>,
  configured: ConfiguredSets,
): Histogram<Labels> {
  const series = createSeries(labels, configured, () => createCell(buckets));
  return {
    at: series.at,
    read() {
      const values = Array.from(series.all()).flatMap(({ labels: of, cell }) =>
        sampleHistogram(name, of, buckets, cell.read()),
      );
      return { name, help, type, aggregator: 'sum', values };
    },
  };
}

function createCell(buckets: readonly number[]) {
  const bounds = Float64Array.from(buckets);
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    observe(value: number) {
      let bucket = 0;
      while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      sum += value;
    },
    read: (): Counts => ({ counts, sum }),
  };
}

/** Each bucket counts all values up to its bound. */
function sampleHistogram(
  name: string,
  labels: Readonly<Record<string, string>>,
  buckets: readonly number[],
  { counts, sum }: Counts,
): MetricSample[] {
  let count = 0;
  const samples: MetricSample[] = [...buckets, '+Inf'].map((le, index) => {
    count += counts[index] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  samples.push({ metricName: `${name}_sum`, labels, value: sum });
  samples.push({ metricName: `${name}_count`, labels, value: count });
  return samples;
}
