import { createHttpClient } from '../upstream/http1/create-http-client.ts';
import type {
  HttpClient,
  HttpExchange,
  HttpHandler,
  HttpRequest,
} from '../upstream/http1/http-client.ts';
import { parseOrigin } from '../upstream/http1/origin.ts';
import { createTally, type Tally } from './create-tally.ts';
import { createWaitingLine } from './create-waiting-line.ts';
import type { LoadProgress, LoadResult } from './load-result.ts';
import { pace } from './pace.ts';

export interface LoadOptions {
  readonly url: URL;
  readonly method: HttpRequest['method'];
  /** The names in lower case, without `host`, `content-length` and `connection`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly ratePerSecond: number;
  readonly seconds: number;
  readonly connectionsMax: number;
  /** Whether answers are server-sent events. */
  readonly isStream?: boolean;
  /** Hears now and then how far it is. */
  readonly onProgress?: (progress: LoadProgress) => void;
}

/** So many due requests wait for a connection; those beyond fail. */
const WAITING_MAX = 16_384;
const CONNECT_TIMEOUT_MS = 5_000;
/** So long after the last request was due, what is not answered fails. */
const LATE_ANSWERS_MAX_MS = 60_000;
const PROGRESS_INTERVAL_MS = 500;

const ERROR_EVENT = /(^|\n)(event: error\r?\n|data: \{"error")/;

/**
 * An open-loop load: requests are due at fixed times, however slowly answers come, and latencies count from the
 * time a request was due. A server that stalls is seen by all whom it kept waiting, not only by those who were
 * served when it did.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { ratePerSecond, seconds, connectionsMax, onProgress } = options;
  const client = createHttpClient({
    origin: parseOrigin(options.url),
    connectionsMax,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    clock: { nowMs: () => performance.now() },
  });
  const tally = createTally();
  const crew = createCrew(options, client, tally);
  const reporting = setInterval(() => onProgress?.(tally.progress()), PROGRESS_INTERVAL_MS);
  try {
    const count = Math.round(ratePerSecond * seconds);
    const startMs = await pace({ count, ratePerSecond, onDue: crew.onDue });
    await crew.finish();
    return tally.result(performance.now() - startMs);
  } finally {
    clearInterval(reporting);
    client.close();
  }
}

interface Crew {
  onDue(dueMs: number): void;
  /** Waits until all that was due is answered or has failed. */
  finish(): Promise<void>;
}

function createCrew(options: LoadOptions, client: HttpClient, tally: Tally): Crew {
  const request = createRequest(options);
  const { connectionsMax, isStream = false } = options;
  const waiting = createWaitingLine(WAITING_MAX);
  const running = new Set<HttpExchange>();
  let onIdle = () => {};

  const send = (dueMs: number) => {
    tally.countSent(performance.now() - dueMs);
    const onOver = () => {
      running.delete(exchange);
      const nextDueMs = waiting.take();
      if (nextDueMs !== undefined) send(nextDueMs);
      else if (running.size === 0) onIdle();
    };
    const exchange = client.send(request, createHandler({ dueMs, isStream, tally, onOver }));
    running.add(exchange);
  };

  const giveUp = () => {
    for (const exchange of running) exchange.abort();
    tally.countFailures('unanswered', running.size);
    tally.countFailures('unsent', waiting.size);
    onIdle();
  };

  return {
    onDue(dueMs) {
      if (running.size < connectionsMax) send(dueMs);
      else if (!waiting.add(dueMs)) tally.countFailures('line_full', 1);
    },
    async finish() {
      if (running.size === 0) return;
      const patience = setTimeout(giveUp, LATE_ANSWERS_MAX_MS);
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      clearTimeout(patience);
    },
  };
}

function createRequest({ url, method, headers, body }: LoadOptions): HttpRequest {
  return {
    method,
    path: `${url.pathname}${url.search}`,
    headers: Object.entries(headers).flat(),
    body,
  };
}

interface HandlerParts {
  readonly dueMs: number;
  readonly isStream: boolean;
  readonly tally: Tally;
  readonly onOver: () => void;
}

function createHandler({ dueMs, isStream, tally, onOver }: HandlerParts): HttpHandler {
  let status = 0;
  let latest: Uint8Array | undefined;
  return {
    onHead(answered) {
      status = answered;
    },
    onData(chunk) {
      if (!isStream) return;
      if (latest === undefined && status === 200) {
        tally.countFirstEvent(performance.now() - dueMs);
      }
      latest = new Uint8Array(chunk);
    },
    onEnd() {
      if (isStream && endsWithError(latest)) tally.countFailures('stream_failed', 1);
      else tally.countAnswer(status, performance.now() - dueMs);
      onOver();
    },
    onFail({ kind }) {
      tally.countFailures(kind, 1);
      onOver();
    },
  };
}

/** A stream that fails after its beginning says so in its last event, in either format. */
function endsWithError(latest: Uint8Array = new Uint8Array(0)): boolean {
  return ERROR_EVENT.test(Buffer.from(latest.buffer, latest.byteOffset, latest.length).toString());
}
