import { DO_NOT_RETRY } from '../protocol/rates/retry-after-headers.ts';
import { Refusal, type RefusalName } from '../protocol/refusals.ts';
import type { TryResult } from '../protocol/try.ts';
import { encodeRetryAfter } from './retry-after.ts';

/**
 * Why a try failed, as far as it decides what comes next:
 *
 *   refused       the request is at fault, its time is up or its answer is too large: no retry; not
 *                 the upstream's fault
 *   overloaded    the upstream is well, but has too much to do: another upstream, or later
 *   broken        it answered with an error or with nonsense
 *   unreachable   it never got the request
 *   denied        it does not serve us, or not this request: another upstream, never this one
 *   slow          it did not answer in time: another upstream if time is left, never this one
 */
export type FailureKind = Exclude<TryResult, 'ok' | 'oversize' | 'left' | 'fault'>;

type FailureDetails = Partial<Pick<UpstreamFailure, 'retryAfterMs' | 'isFinal'>>;

/**
 * An upstream throws this: the refusal that the client gets if no other try helps, and what the
 * failure means for other tries.
 */
export class UpstreamFailure extends Refusal {
  readonly kind: FailureKind;
  /** What an overloaded upstream asked for; 0 if it asked for nothing. */
  readonly retryAfterMs: number;
  /** No other try may follow. */
  readonly isFinal: boolean;

  constructor(
    kind: FailureKind,
    refusal: Refusal,
    { retryAfterMs = 0, isFinal = kind === 'refused' }: FailureDetails = {},
  ) {
    super(refusal.refusal, refusal.message, {
      ...refusal,
      headers: {
        ...refusal.headers,
        ...(kind === 'overloaded' && encodeRetryAfter(retryAfterMs)),
        // The vendor computes and bills such an answer each time, and nobody is charged for it.
        ...(refusal.isOversize && DO_NOT_RETRY),
      },
    });
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
    this.isFinal = isFinal;
    this.cause = refusal;
  }
}

const OVERLOADED: ReadonlySet<RefusalName> = new Set([
  'rate_limited',
  'unavailable',
  'upstream_overloaded',
]);

/** Classifies plain refusals by their name. Any other error is a fault of ours: undefined. */
export function classifyFailure(error: unknown): UpstreamFailure | undefined {
  if (error instanceof UpstreamFailure) return error;
  if (!(error instanceof Refusal)) return undefined;
  if (error.isOversize) return new UpstreamFailure('refused', error);
  if (OVERLOADED.has(error.refusal)) {
    return new UpstreamFailure('overloaded', error, { retryAfterMs: readRetryAfterMs(error) });
  }
  if (error.refusal === 'answer_too_slow') return new UpstreamFailure('slow', error);
  if (error.denial !== undefined || error.refusal === 'upstream_denied') {
    return new UpstreamFailure('denied', error);
  }
  return new UpstreamFailure(error.status >= 500 ? 'broken' : 'refused', error);
}

function readRetryAfterMs({ headers }: Refusal): number {
  const seconds = Number(headers['retry-after'] ?? '0');
  return seconds > 0 && Number.isFinite(seconds) ? seconds * 1_000 : 0;
}
