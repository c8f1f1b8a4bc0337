import type { Config } from '../config/config.ts';
import { packageVersion } from '../config/package-version.ts';
import type { Steps } from '../gateway/steps.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { shapeLogLine } from '../log/create-log.ts';
import { createRequestLog } from '../log/request-log.ts';
import { createObserveRequest } from '../metrics/observe-request.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import { createTraceStarter } from '../tracing/create-trace-starter.ts';
import { createTracer } from '../tracing/tracer.ts';
import type { ActivityCount } from './activity-count.ts';
import type { RefusalTally } from './refusal-tally.ts';

const STDERR = 2;

interface ObserverOptions {
  readonly config: Config;
  /** From 1. */
  readonly slot: number;
  readonly metrics: ProcessMetrics;
  readonly activity: ActivityCount;
  readonly refusals: Pick<RefusalTally, 'note'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Observers extends Pick<Steps, 'startTrace' | 'observe'> {
  /** Writes and sends what is left. No request may be running any more. */
  close(): Promise<void>;
}

/**
 * The parts that observe each request: metrics, the count for the summary of each second, the tally
 * of refusals, the request log and the tracer.
 */
export function createObservers(options: ObserverOptions): Observers {
  const { config, slot, metrics, activity, refusals, clock, log } = options;
  const { requestLog: settings, tracing } = config;
  const { pid } = process;
  const observeRequest = createObserveRequest(metrics);
  const linesDropped = metrics.requestLogLinesDropped.at({});
  const requestLog = createRequestLog({
    lines: settings.lines,
    share: settings.sample,
    pid,
    from: `worker ${slot}`,
    fd: STDERR,
    shapeLine: shapeLogLine,
    clock,
    random: Math.random,
    onDropped: (lines) => linesDropped.add(lines),
  });
  const version = packageVersion();
  const spansDropped = metrics.spansDropped.at({});
  const onLost = (spans: number) => spansDropped.add(spans);
  const tracer = tracing && createTracer({ collector: tracing, version, pid, clock, log, onLost });
  return {
    startTrace: createTraceStarter(tracing?.sample ?? 0),
    observe(record) {
      observeRequest(record);
      activity.observe(record);
      if (record.outcome === 'refused') refusals.note(record);
      requestLog.note(record);
      tracer?.note(record);
    },
    async close() {
      await Promise.all([requestLog.close(), tracer?.close()]);
    },
  };
}
