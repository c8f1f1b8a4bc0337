import type { AnswerPart } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import { UpstreamFailure } from '../routing/upstream-failure.ts';

interface Limits {
  readonly firstByteMs: number;
  /** Between two parts. */
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface Deadlines extends Limits {
  /** Called once, when a deadline has passed: the upstream is to stop. Nobody waits until it has. */
  readonly abort: (reason: Refusal) => void;
}

/**
 * Ends an answer that takes too long. The silence of an upstream counts while somebody waits for its next part:
 * a client that reads slowly is not held against it. The total counts always.
 *
 *   asked ──▶ first part ──▶ asked ──▶ part … ──▶ done
 *    └ firstByteMs            └ idleMs             └ totalMs after the first was asked for
 *
 * One part is asked for at a time.
 */
export function withDeadlines(
  parts: AsyncIterable<AnswerPart>,
  deadlines: Deadlines,
): AsyncIterable<AnswerPart> {
  return {
    [Symbol.asyncIterator]: () => createWatchedIterator(parts[Symbol.asyncIterator](), deadlines),
  };
}

type Result = IteratorResult<AnswerPart>;

/** By hand, since a generator cannot throw while it waits. */
function createWatchedIterator(
  parts: AsyncIterator<AnswerPart>,
  deadlines: Deadlines,
): AsyncIterator<AnswerPart> {
  let watch: Watch | undefined;
  let expiry: Refusal | undefined;
  let resolve: (result: Result) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  // These are shared by all parts of the answer: a closure for each part is what makes streams slow.
  const capture = (onResult: typeof resolve, onError: typeof reject) => {
    resolve = onResult;
    reject = onError;
  };
  const onResult = (result: Result) => {
    if (expiry !== undefined) return;
    if (result.done === true) watch?.stop();
    else watch?.notePart();
    resolve(result);
  };
  const onError = (error: unknown) => {
    if (expiry !== undefined) return;
    watch?.stop();
    reject(error);
  };
  const expire = (failure: Refusal) => {
    expiry = failure;
    deadlines.abort(failure);
    // What it does to end is nothing to wait for, and its failing on the way nothing to report.
    parts.return?.().catch(() => {});
    reject(failure);
  };

  return {
    next() {
      if (expiry !== undefined) return Promise.reject(expiry);
      watch ??= startWatch(deadlines, expire);
      watch.noteAsked();
      const result = new Promise(capture);
      parts.next().then(onResult, onError);
      return result;
    },
    async return() {
      watch?.stop();
      if (expiry === undefined) await parts.return?.();
      return { done: true, value: undefined };
    },
  };
}

interface Watch {
  noteAsked(): void;
  notePart(): void;
  stop(): void;
}

/** One timer for the whole answer: it is not set anew for each part, but looks when it goes off. */
function startWatch(limits: Limits, expire: (failure: Refusal) => void): Watch {
  const totalDueMs = performance.now() + limits.totalMs;
  let askedMs: number | undefined;
  let hasBegun = false;
  let timer: NodeJS.Timeout | undefined;

  const silenceMs = () => (hasBegun ? limits.idleMs : limits.firstByteMs);
  const arm = () => {
    clearTimeout(timer);
    const nowMs = performance.now();
    const dueMs = Math.min(totalDueMs, (askedMs ?? nowMs) + silenceMs());
    timer = setTimeout(look, Math.ceil(dueMs - nowMs));
  };
  const look = () => {
    const nowMs = performance.now();
    if (nowMs >= totalDueMs) expire(failTooLong(limits));
    else if (askedMs !== undefined && nowMs >= askedMs + silenceMs()) {
      expire(hasBegun ? failSilent(limits) : failUnbegun(limits));
    } else arm();
  };

  arm();
  return {
    noteAsked() {
      askedMs = performance.now();
    },
    notePart() {
      askedMs = undefined;
      if (hasBegun) return;
      hasBegun = true;
      arm();
    },
    stop: () => clearTimeout(timer),
  };
}

function failUnbegun({ firstByteMs }: Limits): UpstreamFailure {
  return new UpstreamFailure(
    'slow',
    refuseSlow(`The upstream did not begin to answer within ${firstByteMs / 1_000} seconds.`),
  );
}

function failSilent({ idleMs }: Limits): UpstreamFailure {
  return new UpstreamFailure(
    'slow',
    refuseSlow(`The upstream broke off: it said nothing for ${idleMs / 1_000} seconds.`),
  );
}

/** No sign of a bad upstream: answers can be long, and clients slow. */
function failTooLong({ totalMs }: Limits): UpstreamFailure {
  return new UpstreamFailure(
    'refused',
    refuseSlow(`The answer took longer than ${totalMs / 1_000} seconds.`),
  );
}

function refuseSlow(message: string): Refusal {
  return new Refusal('answer_too_slow', message);
}
