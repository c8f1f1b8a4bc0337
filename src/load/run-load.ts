import { createDeferred, type Deferred } from '../lib/time/deferred.ts';
import { SECOND_MS } from '../lib/units/time-units.ts';
import { createHttpClient } from '../upstream/http1/create-http-client.ts';
import type { HttpRequest } from '../upstream/http1/encode-request.ts';
import type { HttpClient, HttpExchange, HttpHandler } from '../upstream/http1/http-client.ts';
import { parseOrigin } from '../upstream/http1/origin.ts';
import { callAtPace } from './call-at-pace.ts';
import type { LoadProgress, LoadResult } from './load-result.ts';
import { createLoadTally, type LoadTally } from './load-tally.ts';
import { createWaitingQueue } from './waiting-queue.ts';

export interface LoadOptions {
  readonly url: URL;
  readonly method: HttpRequest['method'];
  /** By name in lower case, without `host`, `content-length` and `connection`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly ratePerSecond: number;
  readonly seconds: number;
  /**
   * Requests due in this many seconds before the load are not counted. Connections open then, and
   * code is compiled.
   */
  readonly leadIn?: { readonly seconds: number; readonly onOver: () => void };
  readonly connectionsMax: number;
  /** Whether answers are server-sent events. */
  readonly isStream?: boolean;
  /** Called now and then with the progress so far. */
  readonly onProgress?: (progress: LoadProgress) => void;
}

/** At most this many due requests wait for a connection. Further ones fail. */
const WAITING_MAX = 16_384;
const CONNECT_TIMEOUT_MS = 5_000;
/** Requests that are unanswered this long after the last one was due fail. */
const LATE_ANSWERS_MAX_MS = 60_000;
const PROGRESS_INTERVAL_MS = 500;

const ERROR_EVENT = /(^|\n)(event: (error|response\.failed)\r?\n|data: \{"error")/;

/**
 * Runs an open-loop load: requests are due at fixed times, however slowly answers come, and latency
 * counts from the time a request was due. A stall of the server shows in the latency of every
 * request that it delayed, not only of the requests in progress.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { ratePerSecond, seconds, leadIn, connectionsMax, onProgress } = options;
  const leadInSeconds = leadIn?.seconds ?? 0;
  const client = createHttpClient({
    origin: parseOrigin(options.url),
    connectionsMax,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    clock: { nowMs: () => performance.now() },
  });
  const tally = createLoadTally();
  const crew = createCrew(options, client, tally);
  const reporting = setInterval(() => onProgress?.(tally.progress()), PROGRESS_INTERVAL_MS);
  try {
    const count = Math.round(ratePerSecond * (leadInSeconds + seconds));
    const startMs = await callAtPace({ count, ratePerSecond, onDue: crew.onDue });
    await crew.finish();
    return tally.result(performance.now() - startMs - leadInSeconds * SECOND_MS);
  } finally {
    clearInterval(reporting);
    client.close();
  }
}

interface Crew {
  onDue(dueMs: number): void;
  /** Waits until every due request is answered or has failed. */
  finish(): Promise<void>;
}

function createCrew(options: LoadOptions, client: HttpClient, counted: LoadTally): Crew {
  const request = createRequest(options);
  const { connectionsMax, isStream = false } = options;
  const waiting = createWaitingQueue(WAITING_MAX);
  const running = new Set<HttpExchange>();
  let idle: Deferred | undefined;

  const tallyOf = createTallyOf(options, counted);

  const send = (dueMs: number) => {
    const tally = tallyOf(dueMs);
    tally.countSent(performance.now() - dueMs);
    const onOver = () => {
      running.delete(exchange);
      const nextDueMs = waiting.take();
      if (nextDueMs !== undefined) send(nextDueMs);
      else if (running.size === 0) idle?.resolve();
    };
    const exchange = client.send(request, createHandler({ dueMs, isStream, tally, onOver }));
    running.add(exchange);
  };

  const giveUp = () => {
    for (const exchange of running) exchange.abort();
    counted.countFailures('unanswered', running.size);
    counted.countFailures('unsent', waiting.size);
    idle?.resolve();
  };

  return {
    onDue(dueMs) {
      if (running.size < connectionsMax) send(dueMs);
      else if (!waiting.add(dueMs)) tallyOf(dueMs).countFailures('line_full', 1);
    },
    async finish() {
      if (running.size === 0) return;
      const patience = setTimeout(giveUp, LATE_ANSWERS_MAX_MS);
      idle = createDeferred();
      await idle.promise;
      clearTimeout(patience);
    },
  };
}

/** Chooses the tally for each request, by the time it was due. */
function createTallyOf({ leadIn }: LoadOptions, counted: LoadTally): (dueMs: number) => LoadTally {
  if (leadIn === undefined) return () => counted;
  const uncounted = createLoadTally();
  let beginMs: number | undefined;
  let isOver = false;
  return (dueMs) => {
    beginMs ??= dueMs + leadIn.seconds * SECOND_MS;
    if (dueMs < beginMs) return uncounted;
    if (!isOver) leadIn.onOver();
    isOver = true;
    return counted;
  };
}

function createRequest({ url, method, headers, body }: LoadOptions): HttpRequest {
  return {
    method,
    path: `${url.pathname}${url.search}`,
    headers: Object.entries(headers).flat(),
    body: body && [body],
  };
}

interface HandlerParts {
  readonly dueMs: number;
  readonly isStream: boolean;
  readonly tally: LoadTally;
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

/** A stream that fails after its beginning says so in its last event, in any format. */
function endsWithError(latest: Uint8Array = new Uint8Array(0)): boolean {
  return ERROR_EVENT.test(Buffer.from(latest.buffer, latest.byteOffset, latest.length).toString());
}
