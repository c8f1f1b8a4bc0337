import type { Clock } from '../lib/clock.ts';
import type { Secret } from '../lib/secret.ts';
import type { AnswerPart, Infer, InferenceCall } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import { encodeTraceHeaders } from '../protocol/trace-context.ts';
import { UpstreamFailure } from '../routing/upstream-failure.ts';
import { type AnswerParts, createAnswerParts, type PushedPart } from './answer-parts.ts';
import { withDeadlines } from './deadlines.ts';
import { createHttpClient } from './http1/create-http-client.ts';
import type { HttpClient, HttpHandler } from './http1/http-client.ts';
import type { HttpFailure } from './http1/http-failure.ts';
import type { TlsOptions } from './http1/open-socket.ts';
import { parseOrigin } from './http1/origin.ts';
import {
  type AnswerOptions,
  type AnswerReader,
  createAnswerReader,
  createErrorReader,
} from './read-answer.ts';
import { revealHeaders } from './reveal-headers.ts';
import { dialectOf, type UpstreamDialect } from './upstream-dialect.ts';

/** How long the rest of an answer may take that has told all it had to tell. */
const LINGER_MAX_MS = 1_000;

export interface HttpUpstreamOptions {
  readonly kind: 'native' | 'chat';
  readonly url: string;
  readonly apiKey: Secret | undefined;
  /** By name in lower case: more headers of each request. */
  readonly headers: Readonly<Record<string, Secret>>;
  readonly tls: TlsOptions;
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

/** A real backend over HTTP. Each call is one request; whoever stops taking parts ends it at once. */
export function createHttpUpstream(options: HttpUpstreamOptions): Infer {
  const { kind, timeouts } = options;
  const url = new URL(options.url);
  const client = createHttpClient({
    origin: parseOrigin(url),
    // A call has ended when its answer has told all; its connection may still be read to the end.
    connectionsMax: 2 * options.concurrencyMax,
    connectTimeoutMs: timeouts.connectMs,
    tls: options.tls,
    clock: options.clock,
  });
  const dialect = dialectOf(kind);
  const path = dialect.pathOf(url.pathname);

  return (call) => {
    const parts = {
      [Symbol.asyncIterator]: () => ask({ call, client, dialect, path, options }),
    };
    // A whole answer is silent until it is there, however long that takes.
    const firstByteMs = call.request.isStream ? timeouts.firstByteMs : timeouts.totalMs;
    // Ending the iterator ends the request; there is nothing more to abort.
    return withDeadlines(parts, { ...timeouts, firstByteMs, abort: () => {} });
  };
}

interface Question {
  readonly call: InferenceCall;
  readonly client: HttpClient;
  readonly dialect: UpstreamDialect;
  readonly path: string;
  readonly options: HttpUpstreamOptions;
}

function ask({ call, client, dialect, path, options }: Question): AsyncIterator<AnswerPart> {
  const { request, model, outputTokensMax, form, signal } = call;
  signal.throwIfAborted();
  const { isStream } = request;
  const vendorModel = options.modelNames[model] ?? model;
  const source = form.format === dialect.format ? call.source : undefined;
  const body = dialect.encodeRequest({ request, outputTokensMax, source, isStream }, vendorModel);
  const onAbort = () => {
    exchange.abort();
    parts.fail(signal.reason);
  };
  const stopListening = () => signal.removeEventListener('abort', onAbort);
  const parts = createAnswerParts({
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
        ...revealHeaders(options.headers),
        ...encodeTraceHeaders(call.trace),
      ],
      body: typeof body === 'string' ? Buffer.from(body) : body,
    },
    createHandler({
      dialect,
      isStream,
      form,
      model,
      parts,
      abort: () => exchange.abort(),
      stopListening,
    }),
  );
  signal.addEventListener('abort', onAbort, { once: true });
  return parts.iterator;
}

interface HandlerOptions extends Omit<AnswerOptions, 'tell'> {
  readonly parts: AnswerParts;
  readonly abort: () => void;
  readonly stopListening: () => void;
}

/** Reads one answer: parts as they come, a whole answer, or an error. */
function createHandler(options: HandlerOptions): HttpHandler {
  const { parts, abort, stopListening } = options;
  let reader: AnswerReader | undefined;
  let lingerTimer: NodeJS.Timeout | undefined;
  let isOver = false;
  let hasEnded = false;
  let readBytes = 0;

  const tell = (part: PushedPart) => {
    parts.push(part, readBytes);
    if (isOver || part.events.at(-1)?.type !== 'finish') return;
    // Nothing of what follows matters, but a connection that is read to its end can be used again.
    isOver = true;
    stopListening();
    parts.finish();
    if (!hasEnded) lingerTimer = setTimeout(abort, LINGER_MAX_MS);
  };
  const read = (bytes: number, step: () => PushedPart | undefined) => {
    if (isOver) return;
    readBytes = bytes;
    try {
      const part = step();
      if (part !== undefined) tell(part);
    } catch (error) {
      isOver = true;
      stopListening();
      abort();
      parts.fail(error);
    }
  };

  return {
    onHead(status, headers) {
      const isAnswer = status >= 200 && status <= 299;
      reader = isAnswer
        ? createAnswerReader({ ...options, tell })
        : createErrorReader(status, headers);
    },
    onData: (chunk) => read(chunk.length, () => reader?.push(chunk)),
    onEnd() {
      hasEnded = true;
      clearTimeout(lingerTimer);
      read(0, () => reader?.end());
      stopListening();
      parts.finish();
    },
    onFail(failure) {
      clearTimeout(lingerTimer);
      stopListening();
      parts.fail(explainFailure(failure));
    },
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
