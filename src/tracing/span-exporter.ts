import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { countLosses } from './count-losses.ts';
import type { OtlpAttribute, OtlpSpan } from './otlp.ts';
import { type Collector, type PostResult, postSpans } from './post-spans.ts';

/** The most spans that the collector has not taken yet. More are dropped and counted. */
export const OPEN_SPANS_MAX = 8_192;
const BATCH_SPANS_MAX = 512;
/** How long spans wait for others. */
const BATCH_WAIT_MS = 1_000;
const TRIES_MAX = 3;
/** The pause after the first try. After the second it is twice as long. */
const PAUSE_MS = 1_000;
/** How long the end of a worker waits for the collector. */
const CLOSE_MAX_MS = 3_000;

interface SpanExporterOptions {
  readonly collector: Collector;
  /** Describes the sender. */
  readonly resource: readonly OtlpAttribute[];
  readonly scope: { readonly name: string; readonly version: string };
  readonly clock: Clock;
  readonly log: Log;
  /** Counts each span that the collector will not get, once. */
  readonly onLost: (spans: number) => void;
}

export interface SpanExporter {
  /** Never waits. */
  add(spans: readonly OtlpSpan[]): void;
  /** Sends the spans that are left, within a time limit. */
  close(): Promise<void>;
}

interface Entry {
  readonly text: string;
  readonly spans: number;
}

/** Sends spans in batches, one at a time, in the background. */
export function createSpanExporter(options: SpanExporterOptions): SpanExporter {
  const { collector, resource, scope, clock, log, onLost } = options;
  const envelope = { resource: { attributes: resource }, scope };
  const losses = countLosses({ clock, log, onLost });
  const queue: Entry[] = [];
  /** Spans in the queue or on their way. */
  let openSpans = 0;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosing = false;
  let hasEnded = false;

  const send = async ({ text, spans }: Entry) => {
    const body = encodeBatch(envelope, text);
    let result = await postSpans(collector, body);
    for (let tries = 1; tries < TRIES_MAX && isWorthAnother(result) && !isClosing; tries++) {
      await pause(PAUSE_MS * tries);
      result = await postSpans(collector, body);
    }
    // What was still on its way at the end counts as lost already.
    if (hasEnded) return;
    if (result.kind === 'failed') losses.note(spans, result.why);
    else if (result.rejected > 0) losses.note(result.rejected, 'the collector rejects them');
  };
  const sendAll = async () => {
    while (queue.length > 0) {
      const batch = takeBatch(queue);
      await send(batch);
      openSpans -= batch.spans;
    }
    running = undefined;
  };
  const start = async () => {
    clearTimeout(timer);
    timer = undefined;
    if (queue.length > 0) running ??= sendAll();
    await running;
  };

  return {
    add(spans) {
      if (openSpans + spans.length > OPEN_SPANS_MAX) {
        losses.note(spans.length, 'the queue is full');
        return;
      }
      queue.push({ text: spans.map((span) => JSON.stringify(span)).join(), spans: spans.length });
      openSpans += spans.length;
      if (openSpans >= BATCH_SPANS_MAX) void start();
      else timer ??= setTimeout(start, BATCH_WAIT_MS);
    },
    async close() {
      isClosing = true;
      await Promise.race([start(), pause(CLOSE_MAX_MS)]);
      hasEnded = true;
      if (openSpans > 0) losses.note(openSpans, 'the worker ends');
      losses.close();
    },
  };
}

/** As many spans as go into one request, the oldest first. */
function takeBatch(queue: Entry[]): Entry {
  const texts: string[] = [];
  let spans = 0;
  for (let entry = queue[0]; entry !== undefined; entry = queue[0]) {
    if (spans > 0 && spans + entry.spans > BATCH_SPANS_MAX) break;
    texts.push(entry.text);
    spans += entry.spans;
    queue.shift();
  }
  return { text: texts.join(), spans };
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
