import { pourAnswer } from '../protocol/answers/pour-answer.ts';
import type { Answer, AnswerPart, Infer, InferenceCall, TakePart } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { Try } from '../protocol/try.ts';
import { encodeRetryAfter } from '../routing/retry-after.ts';
import type { RetryBudget } from '../routing/retry-budget.ts';
import type { Lease, NoRoute } from '../routing/router.ts';
import { classifyFailure, type UpstreamFailure } from '../routing/upstream-failure.ts';
import { wait } from '../timers/wait.ts';
import { findLease, type LeaseOptions } from './find-lease.ts';

const TRIES_MAX = 3;
/** Half of it is jitter. The second pause, which is the last, is twice as long. */
const PAUSE_MS = 100;

/** The part of a call that is still needed once its answer has begun. */
type CallEnd = Pick<InferenceCall, 'isUnread' | 'noteTries' | 'signal'>;

interface RetryOptions extends LeaseOptions {
  readonly upstreams: ReadonlyMap<string, Infer>;
  readonly budget: RetryBudget;
  /** Called once for each request that was tried, when it is over. */
  readonly onTries: (tries: readonly Try[], call: CallEnd) => void;
}

type Result = IteratorResult<AnswerPart>;
const DONE: Result = { done: true, value: undefined };

/**
 * All upstreams as one. A try that fails before its first part is repeated if that can help:
 *
 *   lease ──▶ first part ──▶ parts … ──▶ done
 *     ▲           │ fails                a failure here is the end of the answer
 *     └── pause ◀─┘ another upstream if there is one
 */
export function inferWithRetries(options: RetryOptions): Infer {
  return (call) => new AnswerWithRetries(options, call);
}

interface AnswerStart {
  readonly lease: Lease;
  readonly parts: Answer;
}

/** Written by hand, because with a generator each part takes another turn. */
class AnswerWithRetries implements Answer {
  readonly #options: RetryOptions;
  readonly #call: CallEnd;
  /** Kept only as long as a retry is possible. */
  #retryableCall: InferenceCall | undefined;
  readonly #tries: Try[] = [];
  /** The current try, before its first part. */
  #trying: Answer | undefined;
  #begun: AnswerStart | undefined;
  #isOver = false;

  constructor(options: RetryOptions, call: InferenceCall) {
    this.#options = options;
    this.#call = { isUnread: call.isUnread, noteTries: call.noteTries, signal: call.signal };
    this.#retryableCall = call;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#isOver) return Promise.resolve(DONE);
    if (this.#begun !== undefined) return this.#takeNext(this.#begun);
    return this.#retryableCall === undefined
      ? Promise.resolve(DONE)
      : this.#takeFirst(this.#retryableCall);
  }

  isSent(): boolean {
    if (this.#begun !== undefined) return true;
    return this.#trying !== undefined && (this.#trying.isSent?.() ?? true);
  }

  /** Not an async function, whose variables a stream would keep in memory while it is open. */
  pour(take: TakePart): Promise<boolean> {
    if (this.#begun === undefined || this.#isOver) return Promise.resolve(true);
    const { lease, parts } = this.#begun;
    return pourAnswer(parts, take).then(
      (isAll) => {
        if (isAll) this.#end(lease, 'ok');
        return isAll;
      },
      (error: unknown) => {
        this.#endFailed(lease, error);
        throw error;
      },
    );
  }

  /** The client has left, or wants no more. */
  async return(): Promise<Result> {
    if (this.#begun !== undefined) this.#end(this.#begun.lease, 'left');
    this.#isOver = true;
    // Whoever took the parts may have failed: then the upstream still sends.
    await this.#begun?.parts.return?.();
    return DONE;
  }

  /** Returns the first part that any try brings. Throws the refusal that helps the client most. */
  async #takeFirst(call: InferenceCall): Promise<Result> {
    this.#options.budget.noteFirstTry();
    let refusal: UpstreamFailure | undefined;
    try {
      for (;;) {
        const found = findLease(this.#options, call, this.#tries);
        // Nearly always a lease is free at once, and there is nothing to wait for.
        const lease = found instanceof Promise ? await found : found;
        if (lease.kind === 'none') throw refusal ?? refuseNoRoute(lease, call);
        let parts: Answer;
        let first: Result;
        try {
          parts = startTry(this.#options, call, lease);
          this.#trying = parts;
          first = await parts.next();
          noteFirstPart(lease, first);
        } catch (error) {
          refusal = moreHelpful(refusal, this.#noteFailedTry(call, lease, error));
          await this.#waitForRetry(call, refusal);
          continue;
        }
        this.#retryableCall = undefined;
        this.#trying = undefined;
        this.#begun = { lease, parts };
        return this.#noteResult(lease, first);
      }
    } catch (error) {
      this.#isOver = true;
      this.#options.onTries(this.#tries, this.#call);
      throw error;
    }
  }

  /** Throws if no other try could help. */
  #noteFailedTry(call: InferenceCall, lease: Lease, error: unknown): UpstreamFailure {
    const { result, failure } = endFailed(lease, call, error);
    this.#trying = undefined;
    this.#tries.push({ upstream: lease.upstream, result, reason: failure?.reason });
    call.signal.throwIfAborted();
    if (failure === undefined || call.isUnread()) throw error;
    return failure;
  }

  /** Throws the refusal if there may be no other try. */
  async #waitForRetry(call: InferenceCall, refusal: UpstreamFailure): Promise<void> {
    const { budget, random } = this.#options;
    const isLast = refusal.isFinal || this.#tries.length >= TRIES_MAX;
    if (isLast || !budget.takeRetry()) throw refusal;
    await wait(PAUSE_MS * this.#tries.length * (0.5 + random() / 2), call.signal);
  }

  async #takeNext({ lease, parts }: AnswerStart): Promise<Result> {
    try {
      return this.#noteResult(lease, await parts.next());
    } catch (error) {
      this.#endFailed(lease, error);
      throw error;
    }
  }

  #noteResult(lease: Lease, result: Result): Result {
    if (result.done === true || result.value.isLast === true) this.#end(lease, 'ok');
    return result;
  }

  #endFailed(lease: Lease, error: unknown): void {
    const { result, failure } = endFailed(lease, this.#call, error);
    this.#end(lease, result, failure?.reason);
  }

  #end(lease: Lease, result: Try['result'], reason?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tries.push({ upstream: lease.upstream, result, reason });
    lease.end(result === 'ok' ? 'ok' : 'ignored');
    this.#options.onTries(this.#tries, this.#call);
  }
}

function startTry({ upstreams }: RetryOptions, call: InferenceCall, lease: Lease): Answer {
  call.signal.throwIfAborted();
  call.reasoning?.noteUpstream?.(lease.upstream);
  const infer = upstreams.get(lease.upstream);
  if (infer === undefined) throw new Error(`nothing serves the upstream ${lease.upstream}`);
  return infer(call);
}

function noteFirstPart(lease: Lease, first: Result): void {
  if (first.done === true) throw new Refusal('upstream_broken', 'The upstream gave no answer.');
  lease.noteFirstEvent();
}

interface FailedTry {
  readonly result: Try['result'];
  readonly failure: UpstreamFailure | undefined;
}

function endFailed(lease: Lease, { signal }: CallEnd, error: unknown): FailedTry {
  const failure = signal.aborted ? undefined : classifyFailure(error);
  if (failure === undefined) {
    lease.end('ignored');
    return { result: signal.aborted ? 'left' : 'fault', failure };
  }
  if (failure.kind === 'refused') lease.end('ignored');
  else if (failure.kind === 'denied' && failure.denial !== 'account') lease.end('denied');
  else if (failure.kind === 'overloaded') lease.end('overloaded', failure.retryAfterMs);
  else lease.end('failed');
  return { result: failure.isOversize ? 'oversize' : failure.kind, failure };
}

/**
 * What rules out another try is also the last word. Otherwise it helps the client most to learn
 * when to try again.
 */
function moreHelpful(before: UpstreamFailure | undefined, last: UpstreamFailure): UpstreamFailure {
  if (before === undefined || last.isFinal) return last;
  return before.kind === 'overloaded' && last.kind !== 'overloaded' ? before : last;
}

function refuseNoRoute({ why, retryAfterMs }: NoRoute, call: InferenceCall): Refusal {
  const { model, hasPdfs, reasoning } = call;
  const said =
    why === 'full'
      ? `All upstreams of ${model}${hasPdfs ? ' that take PDFs' : ''} are busy.`
      : `No upstream of ${model}${hasPdfs ? ' that takes PDFs' : ''} can be reached at the moment.`;
  const isBound = reasoning !== undefined && reasoning.bound.length > 0;
  const message = isBound
    ? `${said} The model must continue from thoughts that no other upstream can read.`
    : said;
  return new Refusal('unavailable', message, { headers: encodeRetryAfter(retryAfterMs) });
}
