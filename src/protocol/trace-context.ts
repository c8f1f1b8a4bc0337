/**
 * The place of a request in a trace by W3C Trace Context: the content of `traceparent` and
 * `tracestate`.
 */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the parent of the next span. */
  readonly spanId: string;
  readonly flags: number;
  readonly tracestate: string | undefined;
}

/** The trace that a request is part of. */
export interface Trace extends TraceContext {
  /** Undefined if nothing is recorded: upstreams then get the client's own headers. */
  readonly recording: TraceRecording | undefined;
}

export interface TraceRecording {
  /** The span of the client; undefined if the trace begins here. */
  readonly parentSpanId: string | undefined;
  /** In the order of the tries. */
  readonly calls: readonly CallSpan[];
  /** Starts the span of a call; the called upstream is sent this span. */
  startCall(upstream: string): CallSpan;
}

/** One call of one upstream. Its times are on the same clock as the record of its request. */
export interface CallSpan {
  readonly spanId: string;
  readonly upstream: string;
  readonly startedMs: number;
  firstPartMs: number | undefined;
  endMs: number | undefined;
}

export const SAMPLED_FLAG = 1;
/** Says that the trace id is random, which sampling by trace id needs. */
export const RANDOM_FLAG = 2;

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Everyone has to pass on this many characters; a longer `tracestate` may be dropped. */
const TRACESTATE_CHARS_MAX = 512;
const TRACESTATE_MEMBERS_MAX = 32;
const TRACESTATE_MEMBER =
  /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Returns undefined if `traceparent` is malformed, which then says nothing about the request. */
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

/** Returns undefined if any part of the text breaks the rules. */
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

/** Returns name, value, name, value and so on. */
export function encodeTraceHeaders(trace: TraceContext | undefined): readonly string[] {
  if (trace === undefined) return [];
  const { traceId, spanId, flags, tracestate } = trace;
  const traceparent = `00-${traceId}-${spanId}-0${flags}`;
  return tracestate === undefined
    ? ['traceparent', traceparent]
    : ['traceparent', traceparent, 'tracestate', tracestate];
}
