import { measureRequest, type RequestRecord } from '../gateway/request-record.ts';
import { creditsOf } from '../lib/units/micros.ts';
import type { Usage } from '../protocol/inference.ts';
import type { CounterCell } from './counter.ts';
import type { HistogramCell } from './histogram.ts';
import { UNKNOWN_MODEL } from './label-sets.ts';
import type { ProcessMetrics } from './process-metrics.ts';

/**
 * How many combinations of route, model, status and outcome have their series at hand. Beyond
 * this, all are looked up again.
 */
const COMBINATIONS_MAX = 1_000;

/** The series that one combination of labels adds to. */
interface Cells extends Pick<RequestRecord, 'route' | 'status' | 'outcome'> {
  readonly requests: CounterCell;
  readonly duration: HistogramCell;
  readonly overhead: HistogramCell;
  readonly firstEvent: HistogramCell;
  readonly usage: Readonly<Record<Exclude<keyof Usage, 'untimedWrite'>, CounterCell>>;
  readonly charged: CounterCell;
  readonly usageMissing: CounterCell;
  readonly usageEstimated: CounterCell;
}

/** Call this once for each request, at its end. It takes about a microsecond. */
export type ObserveRequest = (record: RequestRecord) => void;

export function createObserveRequest(metrics: ProcessMetrics): ObserveRequest {
  // Looks up the model, then searches: a key made of all labels would have to be hashed for each
  // request.
  const byModel = new Map<string | undefined, Cells[]>();
  let count = 0;

  const findCells = (record: RequestRecord): Cells => {
    const { route, model, status, outcome } = record;
    const cellsOfModel = byModel.get(model) ?? [];
    for (const cells of cellsOfModel) {
      if (cells.status === status && cells.outcome === outcome && cells.route === route)
        return cells;
    }
    if (count >= COMBINATIONS_MAX) {
      byModel.clear();
      count = 0;
    }
    const cells = createCells(metrics, record);
    byModel.set(model, [...(byModel.get(model) ?? []), cells]);
    count++;
    return cells;
  };

  return (record) => {
    const cells = findCells(record);
    const measures = measureRequest(record);
    cells.requests.add(1);
    cells.duration.observe(measures.durationSeconds);
    cells.overhead.observe(measures.overheadSeconds);
    if (measures.firstEventSeconds !== undefined) {
      cells.firstEvent.observe(measures.firstEventSeconds);
    }
    if (record.usage !== undefined) addUsage(cells.usage, record.usage);
    if (record.chargeMicros > 0) cells.charged.add(creditsOf(record.chargeMicros));
    if (record.isUsageMissing) cells.usageMissing.add(1);
    if (record.isEstimated) cells.usageEstimated.add(1);
    if (record.isUsageImplausible && record.upstream !== undefined) {
      const { upstream, model = UNKNOWN_MODEL } = record;
      metrics.usageImplausible.at({ upstream, model }).add(1);
    }
    const { refusal } = record;
    const { streamAbortReason: reason } = measures;
    if (refusal !== undefined) metrics.refusals.at({ refusal }).add(1);
    if (reason !== undefined) metrics.streamsAborted.at({ reason }).add(1);
  };
}

function createCells(metrics: ProcessMetrics, record: RequestRecord): Cells {
  const { route, outcome } = record;
  const status = String(record.status ?? 'none');
  const model = record.model ?? UNKNOWN_MODEL;
  const tokens = (kind: string) => metrics.tokens.at({ model, kind });
  return {
    ...{ route, outcome, status: record.status },
    requests: metrics.requests.at({ route, model, status, outcome }),
    duration: metrics.requestSeconds.at({ route, model }),
    overhead: metrics.overheadSeconds.at({ route }),
    firstEvent: metrics.firstEventSeconds.at({ route, model }),
    usage: {
      input: tokens('input'),
      output: tokens('output'),
      cacheRead: tokens('cache_read'),
      cacheWrite5m: tokens('cache_write_5m'),
      cacheWrite1h: tokens('cache_write_1h'),
      thinking: tokens('thinking'),
      searches: metrics.searches.at({ model }),
    },
    charged: metrics.creditsCharged.at({ model }),
    usageMissing: metrics.usageMissing.at({ model }),
    usageEstimated: metrics.usageEstimated.at({ model }),
  };
}

function addUsage(cells: Cells['usage'], usage: Usage): void {
  cells.input.add(usage.input);
  cells.output.add(usage.output);
  cells.cacheRead.add(usage.cacheRead);
  cells.cacheWrite5m.add(usage.cacheWrite5m);
  cells.cacheWrite1h.add(usage.cacheWrite1h);
  cells.thinking.add(usage.thinking);
  cells.searches.add(usage.searches);
}
