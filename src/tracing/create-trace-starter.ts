import type { Caller } from '../protocol/admission.ts';
import {
  type CallSpan,
  decodeTraceContext,
  RANDOM_FLAG,
  SAMPLED_FLAG,
  type Trace,
  type TraceContext,
  type TraceRecording,
} from '../protocol/trace-context.ts';
import { mintSpanId, mintTraceId } from './mint-span-ids.ts';

/** Eight hexadecimal digits of an id are precise enough for a share. */
const SHARE_DIGITS = 8;

/**
 * Reads which trace a client's request is part of. If the share is above 0, this share of the
 * requests is recorded. The end of the trace id decides, so that every service that decides in this
 * way records the same traces. If a client does not record its own part, the request is not
 * recorded here either.
 */
export function createTraceStarter(share: number): (caller: Caller) => Trace | undefined {
  return (caller) => {
    const sent = readTraceContext(caller);
    if (share === 0) return sent && { ...sent, recording: undefined };
    const isUnwanted = sent !== undefined && (sent.flags & SAMPLED_FLAG) === 0;
    const traceId = sent?.traceId ?? mintTraceId();
    if (isUnwanted || !isInShare(traceId, share)) return sent && { ...sent, recording: undefined };
    return {
      traceId,
      spanId: mintSpanId(),
      flags: sent?.flags ?? SAMPLED_FLAG | RANDOM_FLAG,
      tracestate: sent?.tracestate,
      recording: createRecording(sent?.spanId),
    };
  };
}

function readTraceContext(caller: Caller): TraceContext | undefined {
  // Two such headers, joined by a comma, count as none.
  const traceparent = caller.header('traceparent');
  if (traceparent === undefined) return undefined;
  return decodeTraceContext(traceparent, () => caller.header('tracestate'));
}

function isInShare(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-SHARE_DIGITS), 16) < share * 16 ** SHARE_DIGITS;
}

function createRecording(parentSpanId: string | undefined): TraceRecording {
  const calls: CallSpan[] = [];
  return {
    parentSpanId,
    calls,
    startCall(upstream) {
      const call: CallSpan = {
        spanId: mintSpanId(),
        upstream,
        startedMs: performance.now(),
        firstPartMs: undefined,
        endMs: undefined,
      };
      calls.push(call);
      return call;
    },
  };
}
