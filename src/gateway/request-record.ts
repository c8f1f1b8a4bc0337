import type { RouteName } from '../protocol/format-names.ts';
import type { Usage } from '../protocol/inference.ts';
import type { RefusalName } from '../protocol/refusals.ts';
import type { Trace } from '../protocol/trace-context.ts';
import type { Try } from '../protocol/try.ts';
import type { AnswerEnd } from './meter.ts';

/**
 * All that is known of a request when it has ended, reported once, however it ended. All moments
 * are those of `performance.now()`.
 */
export interface RequestRecord {
  readonly requestId: string;
  readonly route: RouteName;
  readonly trace: Trace | undefined;
  /** Undefined if the text is not a key. */
  readonly keyId: string | undefined;
  readonly maskedKey: string | undefined;
  /** Whether this worker knew before that the key exists. Otherwise the store has to say so. */
  readonly isKeyProven: boolean;
  /** The pinned id. Undefined if the request ended before a model was found. */
  readonly model: string | undefined;
  /** How many tools of the request were left out, because only their vendor can run them. */
  readonly droppedTools: number;
  /** The upstream of the last try, whose answer the client got. */
  readonly upstream: string | undefined;
  readonly tries: readonly Try[];
  readonly isStream: boolean;
  /** The status that went out. Undefined if the client left before. */
  readonly status: number | undefined;
  /** The refusal that ended the request, or a stream that had begun. */
  readonly refusal: RefusalName | undefined;
  readonly outcome: AnswerEnd | 'refused';
  readonly startedMs: number;
  /** When the body was complete. */
  readonly bodyMs: number | undefined;
  readonly admittedMs: number | undefined;
  /** When the upstream began to answer. */
  readonly firstEventMs: number | undefined;
  readonly endMs: number;
  /** All waits for the upstream together. */
  readonly upstreamWaitMs: number;
  /** All waits for the client: for its body, and for it to read the answer. */
  readonly clientWaitMs: number;
  /** Undefined if nothing was admitted. */
  readonly usage: Usage | undefined;
  readonly chargeMicros: number;
  readonly heldMicros: number;
  readonly isEstimated: boolean;
  /** The answer is complete, but the upstream reported no usage, or left out a part of it. */
  readonly isUsageMissing: boolean;
  /** The upstream reported more usage than the answer can have cost. The excess is not charged. */
  readonly isUsageImplausible: boolean;
}

export const STREAM_ABORT_REASONS = [
  'client_left',
  'upstream_failed',
  'key_revoked',
  'account_suspended',
  'fault',
] as const;
type StreamAbortReason = (typeof STREAM_ABORT_REASONS)[number];

interface RequestMeasures {
  readonly durationSeconds: number;
  /** The gateway's own time, without the waits for the upstream and the client. */
  readonly overheadSeconds: number;
  readonly firstEventSeconds: number | undefined;
  /** Undefined if the answer is not a stream, or the stream had not begun or came to its end. */
  readonly streamAbortReason: StreamAbortReason | undefined;
}

export function measureRequest(record: RequestRecord): RequestMeasures {
  const { startedMs, firstEventMs, endMs, upstreamWaitMs, clientWaitMs } = record;
  const durationMs = Math.max(0, endMs - startedMs);
  return {
    durationSeconds: durationMs / 1_000,
    // Waits for both parties may overlap, so the difference could be negative.
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
