import type { FormatName } from '../protocol/format-names.ts';
import type { Try, Usage } from '../protocol/inference.ts';
import type { RefusalName } from '../protocol/refusals.ts';
import type { Trace } from '../protocol/trace-context.ts';
import type { AnswerEnd } from './meter.ts';

/**
 * All that is known of one request when it has ended, told once, however it ended. The moments are those of
 * `performance.now()`.
 */
export interface RequestRecord {
  readonly requestId: string;
  readonly route: FormatName;
  readonly trace: Trace | undefined;
  /** Undefined for a key whose text is none. */
  readonly keyId: string | undefined;
  readonly maskedKey: string | undefined;
  /** The pinned id; undefined when the request ended before a model was found. */
  readonly model: string | undefined;
  /** The one whose answer the client got. */
  readonly upstream: string | undefined;
  readonly tries: readonly Try[];
  readonly isStream: boolean;
  /** That went out; undefined when the client left before. */
  readonly status: number | undefined;
  /** Also of what ended a stream that had begun. */
  readonly refusal: RefusalName | undefined;
  readonly outcome: AnswerEnd | 'refused';
  readonly startedMs: number;
  /** The body was there. */
  readonly bodyMs: number | undefined;
  readonly admittedMs: number | undefined;
  /** The upstream had begun to answer. */
  readonly firstEventMs: number | undefined;
  readonly endMs: number;
  /** All waits for the upstream together. */
  readonly upstreamWaitMs: number;
  /** For its body, and for it to read what it got. */
  readonly clientWaitMs: number;
  /** Undefined when nothing was admitted. */
  readonly usage: Usage | undefined;
  readonly chargeMicros: number;
  readonly heldMicros: number;
  readonly isEstimated: boolean;
  /** There was text, and the upstream told no usage, or none of its output. */
  readonly isUsageMissing: boolean;
  /** The upstream told more than the answer can have cost, and was not believed. */
  readonly isUsageImplausible: boolean;
}

export const STREAM_ABORT_REASONS = [
  'client_left',
  'upstream_failed',
  'key_revoked',
  'account_suspended',
  'fault',
] as const;
export type StreamAbortReason = (typeof STREAM_ABORT_REASONS)[number];

export interface RequestMeasures {
  readonly durationSeconds: number;
  /** What the gateway itself took: neither upstream nor client was waited for. */
  readonly overheadSeconds: number;
  readonly firstEventSeconds: number | undefined;
  /** Undefined for what is no stream, had not begun, or came to its end. */
  readonly streamAbortReason: StreamAbortReason | undefined;
}

export function measureRequest(record: RequestRecord): RequestMeasures {
  const { startedMs, firstEventMs, endMs, upstreamWaitMs, clientWaitMs } = record;
  const durationMs = Math.max(0, endMs - startedMs);
  return {
    durationSeconds: durationMs / 1_000,
    // Waits for both may overlap: what is left is never less than nothing.
    overheadSeconds: Math.max(0, durationMs - upstreamWaitMs - clientWaitMs) / 1_000,
    firstEventSeconds: firstEventMs === undefined ? undefined : (firstEventMs - startedMs) / 1_000,
    streamAbortReason: findStreamAbortReason(record),
  };
}

function findStreamAbortReason(record: RequestRecord): StreamAbortReason | undefined {
  const { isStream, status, outcome, refusal } = record;
  if (!isStream || status !== 200 || outcome === 'complete') return undefined;
  if (refusal === 'unauthenticated') return 'key_revoked';
  if (refusal === 'account_suspended') return 'account_suspended';
  if (outcome === 'left') return 'client_left';
  return outcome === 'failed' ? 'upstream_failed' : 'fault';
}
