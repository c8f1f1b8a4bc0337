/** Values that only the settings or the build know. */
export interface ConfiguredLabels {
  /** Pinned ids. */
  readonly models: readonly string[];
  readonly upstreams: readonly string[];
  /** Versions of this program. */
  readonly versions: readonly string[];
  readonly nodeVersions: readonly string[];
}

/** The same, for the metrics of one process. Models are added when they go on sale. */
export type ConfiguredSets = Readonly<Record<keyof ConfiguredLabels, ReadonlySet<string>>>;

/**
 * Every value that a label can have, except `other`, which stands for any value that is not
 * declared.
 */
type LabelSet = readonly string[] | keyof ConfiguredLabels;
export type LabelSets = Readonly<Record<string, LabelSet>>;

interface Declaration<Labels extends LabelSets> {
  readonly name: string;
  readonly help: string;
  readonly labels: Labels;
}

export interface CounterDeclaration<Labels extends LabelSets> extends Declaration<Labels> {
  readonly type: 'counter';
}

export interface GaugeDeclaration<Labels extends LabelSets> extends Declaration<Labels> {
  readonly type: 'gauge';
  /** How the values of several processes become one. */
  readonly aggregator: 'sum' | 'min' | 'max';
}

export interface HistogramDeclaration<Labels extends LabelSets> extends Declaration<Labels> {
  readonly type: 'histogram';
  /** Upper bounds, ascending. A bucket for all larger values is added. */
  readonly buckets: readonly number[];
}

export type MetricDeclaration =
  | CounterDeclaration<LabelSets>
  | GaugeDeclaration<LabelSets>
  | HistogramDeclaration<LabelSets>;

/** One value for each label. Any text is allowed; a text that is not declared counts as `other`. */
export type LabelValues<Labels extends LabelSets> = Readonly<Record<keyof Labels, string>>;

/** The labels of a metric that has none. */
type NoLabels = Record<never, never>;

export function counter<const Labels extends LabelSets = NoLabels>(
  name: string,
  help: string,
  labels = {} as Labels,
): CounterDeclaration<NoInfer<Labels>> {
  return { type: 'counter', name, help, labels };
}

export function gauge<const Labels extends LabelSets = NoLabels>(
  name: string,
  aggregator: GaugeDeclaration<Labels>['aggregator'],
  help: string,
  labels = {} as Labels,
): GaugeDeclaration<NoInfer<Labels>> {
  return { type: 'gauge', name, help, labels, aggregator };
}

export function histogram<const Labels extends LabelSets = NoLabels>(
  name: string,
  buckets: readonly number[],
  help: string,
  labels = {} as Labels,
): HistogramDeclaration<NoInfer<Labels>> {
  return { type: 'histogram', name, help, labels, buckets };
}
