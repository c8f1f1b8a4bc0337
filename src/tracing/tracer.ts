import { hostname } from 'node:os';
import type { RequestRecord } from '../gateway/request-record.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { encodeRequestSpans } from './encode-request-spans.ts';
import { mintSpanId } from './mint-span-ids.ts';
import { encodeAttributes } from './otlp.ts';
import type { Collector } from './post-spans.ts';
import { createSpanExporter } from './span-exporter.ts';

interface TracerOptions {
  readonly collector: Collector;
  readonly version: string;
  readonly pid: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts each span that the collector will not get, once. */
  readonly onLost: (spans: number) => void;
}

export interface Tracer {
  note(record: RequestRecord): void;
  close(): Promise<void>;
}

/** Exports the spans of each request that is recorded. */
export function createTracer(options: TracerOptions): Tracer {
  const { collector, version, pid, clock, log, onLost } = options;
  const exporter = createSpanExporter({
    collector,
    resource: encodeAttributes({
      'service.name': 'tollgate',
      'service.version': version,
      'host.name': hostname(),
      'process.pid': pid,
    }),
    scope: { name: 'tollgate', version },
    clock,
    log,
    onLost,
  });
  return {
    note(record) {
      const { trace } = record;
      if (trace?.recording === undefined) return;
      const { recording } = trace;
      const epochMs = clock.nowMs() - performance.now();
      exporter.add(encodeRequestSpans({ record, trace, recording, epochMs, mintSpanId }));
    },
    close: () => exporter.close(),
  };
}
