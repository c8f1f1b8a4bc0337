import { pathUnder } from '../lib/address/path-under.ts';
import type { Secret } from '../lib/secret.ts';
import type { Clock } from '../lib/time/clock.ts';
import { refusePdfs } from '../protocol/chat/requests/refuse-pdfs.ts';
import { refuseLongCache } from '../protocol/fields/refuse-long-cache.ts';
import type { FormatName } from '../protocol/format-names.ts';
import type { Infer, InferenceCall, RequestOutline } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import { encodeTraceHeaders } from '../protocol/trace-context.ts';
import { createDeadlineList } from '../timers/deadline-list.ts';
import { createAnswerDeadlines } from './answer-deadlines.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { retryWithoutInclude } from './asking-again/retry-without-include.ts';
import { retryWithoutThoughts } from './asking-again/retry-without-thoughts.ts';
import { createSecretMask } from './create-secret-mask.ts';
import { HttpCall } from './http-call.ts';
import { createHttpClient } from './http1/create-http-client.ts';
import { HeaderLines } from './http1/encode-request.ts';
import type { TlsOptions } from './http1/open-socket.ts';
import { parseOrigin } from './http1/origin.ts';
import { createModelTerms, type ModelSettings, type ModelTerms } from './model-terms.ts';
import { revealHeaders } from './reveal-headers.ts';
import { dialectOf, EMBEDDINGS_DIALECT, type UpstreamDialect } from './upstream-dialect.ts';

/** For the rest of an answer that has reported everything, and for the text of an error. */
const LINGER_MAX_MS = 1_000;
const NAME_CHARS_MAX = 64;

export interface HttpUpstreamOptions extends ModelSettings {
  readonly name: string;
  readonly kind: FormatName;
  readonly url: string;
  readonly apiKey: Secret | undefined;
  /** More headers of each request, by lower-case name. */
  readonly headers: Readonly<Record<string, Secret>>;
  readonly tls: TlsOptions;
  readonly unknownFields: 'pass' | 'drop' | 'refuse';
  readonly concurrencyMax: number;
  readonly timeouts: {
    readonly connectMs: number;
    readonly firstByteMs: number;
    readonly idleMs: number;
    readonly totalMs: number;
  };
  readonly clock: Clock;
  /** The memory of all upstreams together. */
  readonly memory: AnswerMemory;
}

/**
 * A real backend over HTTP. Each call is one request. A caller that stops taking parts ends the
 * request at once.
 */
export function createHttpUpstream(options: HttpUpstreamOptions): Infer {
  const { name, kind, timeouts } = options;
  const termsOf = createModelTerms(options);
  const lingering = createLingeringList();
  const client = createHttpClient({
    origin: parseOrigin(new URL(options.url)),
    // A call ends when its answer has reported everything, but its connection may still be read to
    // the end.
    connectionsMax: 2 * options.concurrencyMax,
    makeRoom: () => lingering.takeFirst()?.giveUpRest(),
    connectTimeoutMs: timeouts.connectMs,
    tls: options.tls,
    clock: options.clock,
  });
  const answers = dialectOf(kind);
  const dropsUnknown = options.unknownFields === 'drop';
  const pathOf = createPaths(options.url, [answers, EMBEDDINGS_DIALECT]);
  const maskText = createSecretMask(options);
  const shared = { lingering, maskText, upstream: name, memory: options.memory };
  const forStreams = { ...shared, answer: createAnswerDeadlines(timeouts) };
  // An answer that is not a stream is silent until it is complete, however long that takes.
  const wholeTimeouts = { ...timeouts, firstByteMs: timeouts.totalMs };
  const forWholes = { ...shared, answer: createAnswerDeadlines(wholeTimeouts) };
  const encodeHeaders = createHeaderEncoder(options);

  const ask = (call: InferenceCall, terms: ModelTerms) => {
    const { request, readWhole, outputTokensMax, form, signal } = call;
    const { vendorModel, outputLimitField, accepts, sampling } = terms;
    const reasoning = call.reasoning && { upstream: name, open: call.reasoning.open };
    signal.throwIfAborted();
    const dialect = request.embeds === undefined ? answers : EMBEDDINGS_DIALECT;
    if (dialect !== answers && kind === 'native') throw refuseEmbeddings();
    checkUnknown(request, options);
    // An upstream of the native format itself informs native clients of what it takes.
    if (form.format !== 'native' && !accepts.has('pdf')) refusePdfs(request);
    if (dialect.format === form.format) refuseLongCache(request);
    const source = form.format === dialect.format ? call.source : undefined;
    // Written out: with a spread, three times as much of a request would grow old.
    const body = dialect.encodeRequest(
      {
        request,
        readWhole,
        outputTokensMax,
        source,
        isStream: request.isStream,
        reasoning,
        accepts,
        dropsUnknown,
        dropsSampling: source === undefined && sampling === 'drop',
      },
      vendorModel,
      outputLimitField,
    );
    const httpCall = new HttpCall(call, dialect, request.isStream ? forStreams : forWholes);
    httpCall.start(client, {
      method: 'POST',
      path: pathOf(dialect),
      headers: encodeHeaders(call),
      body: typeof body === 'string' ? [Buffer.from(body)] : body,
    });
    return httpCall.parts;
  };
  if (kind === 'responses') return retryWithoutInclude({ ask, termsOf, clock: options.clock });
  const infer: Infer = (call) => ask(call, termsOf(call.model));
  return kind === 'native' ? retryWithoutThoughts(name, infer) : infer;
}

function createLingeringList() {
  return createDeadlineList<HttpCall>({
    afterMs: LINGER_MAX_MS,
    nowMs: () => performance.now(),
    onDue: (call) => call.giveUpRest(),
  });
}

function createPaths(url: string, dialects: readonly UpstreamDialect[]) {
  const paths = new Map(dialects.map((dialect) => [dialect, pathUnder(url, dialect.path)]));
  return (dialect: UpstreamDialect) => paths.get(dialect) ?? dialect.path;
}

/** The models of the store may lead to upstreams that have no embeddings. */
function refuseEmbeddings(): Refusal {
  return new Refusal('upstream_broken', 'The upstream of this model has no embeddings.');
}

/**
 * An unknown kind of tool is refused even if unknown fields are dropped: without the tool, the
 * model would lack it.
 */
function checkUnknown(
  { unknownFields: names }: RequestOutline,
  { unknownFields }: Pick<HttpUpstreamOptions, 'unknownFields'>,
): void {
  if (names.length === 0 || unknownFields === 'pass') return;
  const name = names.find((other) => unknownFields === 'refuse' || other.includes('.'));
  if (name === undefined) return;
  const shown = name.slice(0, NAME_CHARS_MAX);
  throw new Refusal('invalid_request', `${shown}: this model does not take unknown fields`, {
    param: shown,
  });
}

/** Most requests have the same headers as the one before, so these are put together once. */
function createHeaderEncoder(options: HttpUpstreamOptions): (call: InferenceCall) => HeaderLines {
  const { kind, apiKey, headers } = options;
  const dialect = dialectOf(kind);
  const usual = new Map<boolean, HeaderLines>();

  const encode = ({ request, isBetaContext, trace }: InferenceCall) =>
    new HeaderLines([
      ...['content-type', 'application/json'],
      ...['accept', request.isStream ? 'text/event-stream' : 'application/json'],
      ...dialect.encodeHeaders({ isBetaContext, betas: request.betas }, apiKey?.reveal()),
      ...revealHeaders(headers),
      ...encodeTraceHeaders(trace),
    ]);
  return (call) => {
    const { isBetaContext, trace } = call;
    const { betas, isStream } = call.request;
    if (isBetaContext || betas.length > 0 || trace !== undefined) return encode(call);
    const known = usual.get(isStream);
    if (known !== undefined) return known;
    const lines = encode(call);
    usual.set(isStream, lines);
    return lines;
  };
}
