export interface ProcessFigures {
  /** `primary`, or `worker` for all workers together. */
  readonly process: string;
  readonly memory: { readonly rss: number; readonly heapUsed: number; readonly external: number };
  /**
   * In half of all seconds the delay was no longer than this. Undefined before the first second, or
   * if the delay is beyond the last bucket.
   */
  readonly lagMsP50: number | undefined;
  readonly lagMsP99: number | undefined;
}

const MS_PER_SECOND = 1_000;

interface MetricLine {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the metrics of a node, in the text format of Prometheus. */
export function measureProcesses(metrics: string): readonly ProcessFigures[] {
  const lines = metrics.split('\n').flatMap(parseLine);
  const memory = lines.filter(({ name }) => name === 'tollgate_memory_bytes');
  const buckets = lines.filter(({ name }) => name === 'tollgate_event_loop_lag_seconds_bucket');
  const processes = new Set(memory.map(({ labels }) => labels['process'] ?? ''));
  return [...processes].map((process) => {
    const ofProcess = ({ labels }: MetricLine) => labels['process'] === process;
    const bytesOf = (kind: string) =>
      memory.find((line) => ofProcess(line) && line.labels['kind'] === kind)?.value ?? 0;
    const lags = buckets.filter(ofProcess);
    return {
      process,
      memory: {
        rss: bytesOf('rss'),
        heapUsed: bytesOf('heap_used'),
        external: bytesOf('external'),
      },
      lagMsP50: findQuantileMs(lags, 0.5),
      lagMsP99: findQuantileMs(lags, 0.99),
    };
  });
}

/** Returns the upper end of the bucket that contains the quantile. */
function findQuantileMs(buckets: readonly MetricLine[], share: number): number | undefined {
  const ascending = buckets
    .map(({ labels, value }) => ({ end: Number(labels['le']?.replace('+Inf', 'Infinity')), value }))
    .toSorted((one, other) => one.end - other.end);
  const total = ascending.at(-1)?.value ?? 0;
  if (total === 0) return undefined;
  const found = ascending.find(({ value }) => value >= share * total);
  return found === undefined || !Number.isFinite(found.end) ? undefined : found.end * MS_PER_SECOND;
}

/** The labels of these metrics contain neither quotation marks nor commas. */
function parseLine(line: string): MetricLine[] {
  const match = /^(\w+)\{([^}]*)\} (\S+)$/.exec(line);
  if (match === null) return [];
  const [, name = '', labels = '', value = ''] = match;
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)];
  return [
    {
      name,
      labels: Object.fromEntries(pairs.map(([, label, text]) => [label, text])),
      value: Number(value),
    },
  ];
}
