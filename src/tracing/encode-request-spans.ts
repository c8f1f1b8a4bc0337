import { measureRequest, type RequestRecord } from '../gateway/request-record.ts';
import { creditsOf } from '../lib/units/micros.ts';
import { ROUTE_PATHS } from '../protocol/format-names.ts';
import { REFUSALS } from '../protocol/refusals.ts';
import type { CallSpan, Trace, TraceRecording } from '../protocol/trace-context.ts';
import {
  encodeAttributes,
  encodeUnixNano,
  KIND_CLIENT,
  KIND_INTERNAL,
  KIND_SERVER,
  type OtlpAttribute,
  type OtlpSpan,
  STATUS_ERROR,
} from './otlp.ts';

interface SpanSource {
  readonly record: RequestRecord;
  readonly trace: Trace;
  readonly recording: TraceRecording;
  /** Add this to a moment of `performance.now()` for the time since the epoch. */
  readonly epochMs: number;
  mintSpanId(): string;
}

/**
 * The spans of one request: its own, one for its admission, and one for each call of an upstream.
 * Names are those of the OpenTelemetry conventions for HTTP servers and for generative AI.
 *
 *   chat MODEL ──┬── admit         from the body to the hold
 *                ├── call UPSTREAM   the parent of the upstream's own span
 *                └── …
 */
export function encodeRequestSpans(recorded: SpanSource): OtlpSpan[] {
  const { record, trace, recording } = recorded;
  const request = encodeSpan(recorded, {
    spanId: trace.spanId,
    parentSpanId: recording.parentSpanId,
    name:
      record.model === undefined
        ? `POST ${ROUTE_PATHS[record.route]}`
        : `${operationOf(record)} ${record.model}`,
    kind: KIND_SERVER,
    startMs: record.startedMs,
    endMs: record.endMs,
    attributes: encodeRequestAttributes(record),
    error: findError(record),
  });
  const calls = recording.calls.map((call, index) =>
    encodeCall(recorded, call, record.tries[index]?.result),
  );
  return [request, ...encodeAdmission(recorded), ...calls];
}

function operationOf({ route }: RequestRecord): string {
  return route === 'embeddings' ? route : 'chat';
}

function encodeRequestAttributes(record: RequestRecord): OtlpAttribute[] {
  const { usage, model, isStream, status } = record;
  const { firstEventSeconds } = measureRequest(record);
  const hasAnswer = status === 200;
  const path = ROUTE_PATHS[record.route];
  return encodeAttributes({
    'http.request.method': 'POST',
    'http.route': path,
    'url.path': path,
    'url.scheme': 'http',
    'http.response.status_code': status,
    'error.type': findError(record) ?? record.refusal,
    'gen_ai.operation.name': operationOf(record),
    'gen_ai.provider.name': record.upstream,
    'gen_ai.request.model': model,
    'gen_ai.request.stream': model === undefined ? undefined : isStream,
    'gen_ai.response.model': hasAnswer ? model : undefined,
    'gen_ai.response.time_to_first_chunk':
      isStream && firstEventSeconds !== undefined ? { fraction: firstEventSeconds } : undefined,
    // All input, cached or not.
    'gen_ai.usage.input_tokens':
      usage && usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h,
    'gen_ai.usage.output_tokens': usage?.output,
    'gen_ai.usage.cache_read.input_tokens': usage?.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': usage && usage.cacheWrite5m + usage.cacheWrite1h,
    'tollgate.request.id': record.requestId,
    'tollgate.key.id': record.keyId,
    'tollgate.outcome': record.outcome,
    'tollgate.credits': usage && { fraction: creditsOf(record.chargeMicros) },
  });
}

/** The span of a server is an error only if the server is at fault. */
function findError({ refusal, outcome, status }: RequestRecord): string | undefined {
  const isRefusalOurs = refusal !== undefined && REFUSALS[refusal].status >= 500;
  if (!isRefusalOurs && outcome !== 'failed' && (status ?? 0) < 500) return undefined;
  return refusal ?? outcome;
}

function encodeAdmission(recorded: SpanSource): OtlpSpan[] {
  const { bodyMs, admittedMs } = recorded.record;
  if (bodyMs === undefined || admittedMs === undefined) return [];
  return [
    encodeSpan(recorded, {
      spanId: recorded.mintSpanId(),
      parentSpanId: recorded.trace.spanId,
      name: 'admit',
      kind: KIND_INTERNAL,
      startMs: bodyMs,
      endMs: admittedMs,
      attributes: [],
      error: undefined,
    }),
  ];
}

type CallResult = RequestRecord['tries'][number]['result'] | undefined;

function encodeCall(recorded: SpanSource, call: CallSpan, result: CallResult): OtlpSpan {
  const isError = result !== undefined && result !== 'ok' && result !== 'left';
  const { upstream, startedMs, firstPartMs, endMs = recorded.record.endMs } = call;
  return encodeSpan(recorded, {
    spanId: call.spanId,
    parentSpanId: recorded.trace.spanId,
    name: `call ${upstream}`,
    kind: KIND_CLIENT,
    startMs: startedMs,
    endMs,
    attributes: encodeAttributes({
      'tollgate.upstream': upstream,
      'tollgate.result': result,
      'tollgate.time_to_first_part':
        firstPartMs === undefined ? undefined : { fraction: (firstPartMs - startedMs) / 1_000 },
      'error.type': isError ? result : undefined,
    }),
    error: isError ? result : undefined,
  });
}

interface SpanParts {
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: readonly OtlpAttribute[];
  readonly error: string | undefined;
}

function encodeSpan({ trace, epochMs }: SpanSource, parts: SpanParts): OtlpSpan {
  const { spanId, parentSpanId, name, kind, startMs, endMs, attributes, error } = parts;
  return {
    traceId: trace.traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...(trace.tracestate !== undefined && { traceState: trace.tracestate }),
    flags: trace.flags,
    name,
    kind,
    startTimeUnixNano: encodeUnixNano(epochMs + startMs),
    endTimeUnixNano: encodeUnixNano(epochMs + endMs),
    attributes,
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error },
  };
}
