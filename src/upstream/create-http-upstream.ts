import type { Clock } from '../lib/clock.ts';
import type { Secret } from '../lib/secret.ts';
import { createSseDecoder } from '../protocol/decode-sse.ts';
import { decodeUpstreamError } from '../protocol/decode-upstream-error.ts';
import type { Infer, InferenceCall, InferenceEvent } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import { UpstreamFailure } from '../routing/upstream-failure.ts';
import { type AnswerEvents, createAnswerEvents } from './answer-events.ts';
import { withDeadlines } from './deadlines.ts';
import { createHttpClient } from './http1/create-http-client.ts';
import type { HttpClient, HttpHandler, HttpHeaders } from './http1/http-client.ts';
import type { HttpFailure } from './http1/http-failure.ts';
import { CHAT_DIALECT, NATIVE_DIALECT, type UpstreamDialect } from './upstream-dialect.ts';

/** A whole answer is put together in memory before it is decoded. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;

export interface HttpUpstreamOptions {
  readonly kind: 'native' | 'chat';
  readonly url: string;
  readonly apiKey: Secret | undefined;
  /** What the upstream calls a model, where it has another name there. */
  readonly modelNames: Readonly<Record<string, string>>;
  readonly concurrencyMax: number;
  readonly timeouts: {
    readonly connectMs: number;
    readonly firstByteMs: number;
    readonly idleMs: number;
    readonly totalMs: number;
  };
  readonly clock: Clock;
}

/** A real backend over HTTP. Each call is one request; whoever stops taking events ends it at once. */
export function createHttpUpstream(options: HttpUpstreamOptions): Infer {
  const { kind, timeouts } = options;
  const url = new URL(options.url);
  const isTls = url.protocol === 'https:';
  const client = createHttpClient({
    origin: {
      protocol: isTls ? 'https:' : 'http:',
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    },
    connectionsMax: options.concurrencyMax,
    connectTimeoutMs: timeouts.connectMs,
    clock: options.clock,
  });
  const dialect = kind === 'native' ? NATIVE_DIALECT : CHAT_DIALECT;
  const path = dialect.pathOf(url.pathname);

  return (call) => {
    const events = {
      [Symbol.asyncIterator]: () => ask({ call, client, dialect, path, options }),
    };
    // Ending the iterator ends the request; there is nothing more to abort.
    return withDeadlines(events, { ...timeouts, abort: () => {} });
  };
}

interface Question {
  readonly call: InferenceCall;
  readonly client: HttpClient;
  readonly dialect: UpstreamDialect;
  readonly path: string;
  readonly options: HttpUpstreamOptions;
}

function ask({ call, client, dialect, path, options }: Question): AsyncIterator<InferenceEvent> {
  const { request, model, outputTokensMax, signal } = call;
  signal.throwIfAborted();
  const { isStream } = request;
  const vendorModel = options.modelNames[model] ?? model;
  const body = dialect.encodeRequest({ request, outputTokensMax, isStream }, vendorModel);
  const onAbort = () => {
    exchange.abort();
    events.fail(signal.reason);
  };
  const stopListening = () => signal.removeEventListener('abort', onAbort);
  const events = createAnswerEvents({
    pause: () => exchange.pause(),
    resume: () => exchange.resume(),
    abort() {
      stopListening();
      exchange.abort();
    },
  });
  const exchange = client.send(
    {
      method: 'POST',
      path,
      headers: [
        ...['content-type', 'application/json'],
        ...['accept', isStream ? 'text/event-stream' : 'application/json'],
        ...dialect.encodeHeaders(request, options.apiKey?.reveal()),
      ],
      body: Buffer.from(body),
    },
    createHandler({
      dialect,
      isStream,
      events,
      model,
      abort: () => exchange.abort(),
      stopListening,
    }),
  );
  signal.addEventListener('abort', onAbort, { once: true });
  return events.iterator;
}

interface HandlerOptions {
  readonly dialect: UpstreamDialect;
  readonly isStream: boolean;
  readonly events: AnswerEvents;
  /** The pinned id: what the upstream calls it is its own affair. */
  readonly model: string;
  readonly abort: () => void;
  readonly stopListening: () => void;
}

/** Reads one answer: events as they come, a whole answer, or an error. */
function createHandler(options: HandlerOptions): HttpHandler {
  const { dialect, isStream, events, model, abort, stopListening } = options;
  let reader: BodyReader | undefined;

  const tell = (bytes: number, read: () => readonly InferenceEvent[]) => {
    try {
      const told = read().map((event) => (event.type === 'start' ? { ...event, model } : event));
      events.push(told, bytes);
    } catch (error) {
      stopListening();
      abort();
      events.fail(error);
    }
  };

  return {
    onHead(status, headers) {
      if (status < 200 || status > 299) reader = createErrorReader(status, headers);
      else reader = isStream ? createStreamReader(dialect) : createWholeReader(dialect);
    },
    onData: (chunk) => tell(chunk.length, () => reader?.push(chunk) ?? []),
    onEnd() {
      stopListening();
      tell(0, () => reader?.end() ?? []);
      events.finish();
    },
    onFail(failure) {
      stopListening();
      events.fail(explainFailure(failure));
    },
  };
}

interface BodyReader {
  push(chunk: Uint8Array): readonly InferenceEvent[];
  end(): readonly InferenceEvent[];
}

function createStreamReader(dialect: UpstreamDialect): BodyReader {
  const sse = createSseDecoder();
  const decoder = dialect.createStreamDecoder();
  return {
    push: (chunk) => sse.push(chunk).flatMap((event) => decoder.decode(event)),
    end: () => [...sse.end().flatMap((event) => decoder.decode(event)), ...decoder.end()],
  };
}

function createWholeReader(dialect: UpstreamDialect): BodyReader {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    push(chunk) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) {
        throw new Refusal('upstream_broken', "The upstream's answer is too large.");
      }
      chunks.push(chunk);
      return [];
    },
    end: () => dialect.decodeAnswer(Buffer.concat(chunks).toString('utf8')),
  };
}

/** What is too long to be an error message is cut: the status says enough. */
function createErrorReader(status: number, headers: HttpHeaders): BodyReader {
  const retryAfter = headers.get('retry-after');
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const refuse = (): never => {
    throw decodeUpstreamError({ status, body: Buffer.concat(chunks).toString('utf8'), retryAfter });
  };
  return {
    push(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      return bytes > ERROR_BYTES_MAX ? refuse() : [];
    },
    end: refuse,
  };
}

function explainFailure({ kind, isSafeToRepeat }: HttpFailure): UpstreamFailure {
  if (kind === 'connections_exhausted') {
    const refusal = new Refusal('upstream_overloaded', 'Overloaded');
    return new UpstreamFailure('overloaded', refusal);
  }
  const message = isSafeToRepeat
    ? 'The upstream cannot be reached.'
    : 'The upstream broke off its answer.';
  return new UpstreamFailure(
    isSafeToRepeat ? 'unreachable' : 'broken',
    new Refusal('upstream_broken', message),
  );
}
