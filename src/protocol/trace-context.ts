/** Where a request stands in a trace, by W3C Trace Context: what `traceparent` and `tracestate` say. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: whose child the next one is that is told of the trace. */
  readonly spanId: string;
  readonly flags: number;
  readonly tracestate: string | undefined;
}

/** The trace that a request is part of. */
export interface Trace extends TraceContext {
  /** Undefined where nothing is recorded: upstreams are then told what the client told. */
  readonly recording: TraceRecording | undefined;
}

export interface TraceRecording {
  /** Of the client; undefined where the trace begins here. */
  readonly parentSpanId: string | undefined;
  /** In the order of the tries. */
  readonly calls: readonly CallSpan[];
  /** The upstream that is called is told of this span. */
  startCall(upstream: string): CallSpan;
}

/** One call of one upstream. The moments are those of the record of its request. */
export interface CallSpan {
  readonly spanId: string;
  readonly upstream: string;
  readonly startedMs: number;
  firstPartMs: number | undefined;
  endMs: number | undefined;
}

export const SAMPLED_FLAG = 1;
/** The trace id was drawn by chance, as shares of traces need it. */
export const RANDOM_FLAG = 2;

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** What everyone has to pass on; what is longer may be left out. */
const TRACESTATE_CHARS_MAX = 512;
const TRACESTATE_MEMBERS_MAX = 32;
const TRACESTATE_MEMBER =
  /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Undefined for a `traceparent` that is none, which says nothing about a request. */
export function decodeTraceContext(
  traceparent: string,
  readTracestate: () => string | undefined,
): TraceContext | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return {
    traceId,
    spanId,
    flags: Number.parseInt(flags, 16) & (SAMPLED_FLAG | RANDOM_FLAG),
    tracestate: decodeTracestate(readTracestate()),
  };
}

/** One that breaks its rules is left out whole. */
function decodeTracestate(text: string | undefined): string | undefined {
  if (text === undefined || text.length > TRACESTATE_CHARS_MAX) return undefined;
  const members = text
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > TRACESTATE_MEMBERS_MAX) return undefined;
  const keys = new Set(members.map((member) => member.split('=')[0]));
  if (keys.size < members.length) return undefined;
  return members.every((member) => TRACESTATE_MEMBER.test(member)) ? members.join(',') : undefined;
}

/** Name, value, name, value, … */
export function encodeTraceHeaders(trace: TraceContext | undefined): readonly string[] {
  if (trace === undefined) return [];
  const { traceId, spanId, flags, tracestate } = trace;
  const traceparent = `00-${traceId}-${spanId}-0${flags}`;
  return tracestate === undefined
    ? ['traceparent', traceparent]
    : ['traceparent', traceparent, 'tracestate', tracestate];
}
