import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { OtlpAttribute, OtlpSpan } from './otlp.ts';
import { type Collector, type PostResult, postSpans } from './post-spans.ts';

/** Of spans that the collector has not taken yet; more are dropped and counted. */
export const QUEUE_SPANS_MAX = 8_192;
const BATCH_SPANS_MAX = 512;
/** Spans wait for others for so long. */
const BATCH_WAIT_MS = 1_000;
const TRIES_MAX = 3;
/** Twice as long after the second. */
const PAUSE_MS = 1_000;
/** Of the end of a worker. */
const CLOSE_MAX_MS = 3_000;
/** Between two lines of the log on spans that are lost. */
const TOLD_EVERY_MS = 60_000;

export interface SpanExporterOptions {
  readonly collector: Collector;
  /** Who sends. */
  readonly resource: readonly OtlpAttribute[];
  readonly scope: { readonly name: string; readonly version: string };
  readonly clock: Clock;
  readonly log: Log;
}

export interface SpanExporter {
  /** Never waits. */
  add(spans: readonly OtlpSpan[]): void;
  /** Sends what there is, as far as a bound allows. */
  close(): Promise<void>;
}

interface Entry {
  readonly text: string;
  readonly spans: number;
}

/** Sends spans in batches, one at a time, in the background. */
export function createSpanExporter(options: SpanExporterOptions): SpanExporter {
  const { collector, resource, scope, clock, log } = options;
  const queue: Entry[] = [];
  let queuedSpans = 0;
  let dropped = 0;
  let toldMs = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosing = false;

  const noteDropped = (spans: number, why: string) => {
    dropped += spans;
    const nowMs = clock.nowMs();
    if (nowMs - toldMs < TOLD_EVERY_MS && !isClosing) return;
    toldMs = nowMs;
    log.warn({ dropped, why }, 'spans are lost');
    dropped = 0;
  };

  const takeBatch = (): Entry => {
    const texts: string[] = [];
    let spans = 0;
    for (let entry = queue[0]; entry !== undefined; entry = queue[0]) {
      if (spans > 0 && spans + entry.spans > BATCH_SPANS_MAX) break;
      texts.push(entry.text);
      spans += entry.spans;
      queue.shift();
    }
    queuedSpans -= spans;
    return { text: texts.join(), spans };
  };

  const envelope = { resource: { attributes: resource }, scope };
  const send = async ({ text, spans }: Entry) => {
    const body = encodeBatch(envelope, text);
    let result = await postSpans(collector, body);
    for (let tries = 1; tries < TRIES_MAX && isWorthAnother(result) && !isClosing; tries++) {
      await pause(PAUSE_MS * tries);
      result = await postSpans(collector, body);
    }
    if (result.kind === 'failed') noteDropped(spans, result.why);
    else if (result.rejected > 0) noteDropped(result.rejected, 'the collector rejects them');
  };

  const sendAll = async () => {
    while (queue.length > 0) await send(takeBatch());
  };
  const start = () => {
    clearTimeout(timer);
    timer = undefined;
    running ??= sendAll().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    add(spans) {
      if (queuedSpans + spans.length > QUEUE_SPANS_MAX) {
        noteDropped(spans.length, 'the queue is full');
        return;
      }
      queue.push({ text: spans.map((span) => JSON.stringify(span)).join(), spans: spans.length });
      queuedSpans += spans.length;
      if (queuedSpans >= BATCH_SPANS_MAX) void start();
      else timer ??= setTimeout(start, BATCH_WAIT_MS);
    },
    async close() {
      isClosing = true;
      await Promise.race([start(), pause(CLOSE_MAX_MS)]);
      if (queuedSpans > 0) noteDropped(queuedSpans, 'the worker ends');
    },
  };
}

interface Envelope {
  readonly resource: { readonly attributes: readonly OtlpAttribute[] };
  readonly scope: SpanExporterOptions['scope'];
}

/** The spans are JSON already. */
function encodeBatch({ resource, scope }: Envelope, spans: string): string {
  const scopeSpans = `[{"scope":${JSON.stringify(scope)},"spans":[${spans}]}]`;
  return `{"resourceSpans":[{"resource":${JSON.stringify(resource)},"scopeSpans":${scopeSpans}}]}`;
}

function isWorthAnother(result: PostResult): boolean {
  return result.kind === 'failed' && result.isRetryable;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
