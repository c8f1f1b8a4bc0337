/** One metric of one process at one moment, in the shape that prom-client merges and prints. */
export interface MetricSnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: 'sum' | 'min' | 'max';
  readonly values: readonly MetricSample[];
}

export interface MetricSample {
  /** For the parts of a histogram. Otherwise it is the metric's own name. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}
