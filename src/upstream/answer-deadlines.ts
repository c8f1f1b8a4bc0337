import { DO_NOT_RETRY } from '../protocol/rates/retry-after-headers.ts';
import { Refusal } from '../protocol/refusals.ts';
import { UpstreamFailure } from '../routing/upstream-failure.ts';
import { createDeadlineList, type Deadline } from '../timers/deadline-list.ts';

/** After a silence this long, a client is sent a sign of life. */
const BEGINNING_HELD_MAX_MS = 10_000;

interface Limits {
  readonly firstByteMs: number;
  /** The longest silence between two parts, or signs of life. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/**
 * An answer whose total is over continues as `unread`, for its cost alone. Or it ends: it has
 * `begun`, or not even its head has come.
 */
export type Overdue = 'unread' | 'begun' | 'unbegun';

/** An answer that can be ended from outside, with its places in the lists below. */
export interface DeadlineHolder {
  totalDeadline: Deadline<DeadlineHolder> | undefined;
  firstByteDeadline: Deadline<DeadlineHolder> | undefined;
  idleDeadline: Deadline<DeadlineHolder> | undefined;
  beginningDeadline: Deadline<DeadlineHolder> | undefined;
  expire(failure: UpstreamFailure): void;
  /** Asked when the total is over. */
  judgeOverdue(): Overdue;
  /** A beginning has been held long enough. */
  emitBeginning(): void;
}

/**
 * Ends answers that take too long. The silence of an upstream counts only while somebody waits for
 * its next part, so a client that reads slowly is not held against it. The total always counts, but
 * a client that made its upstream wait may be cut off instead, as if it had left.
 *
 *   asked ──▶ first part ──▶ asked ──▶ part … ──▶ done
 *    └ firstByteMs            └ idleMs             └ totalMs after the first was asked for
 *
 * A beginning that is held until more is said ends the first limit, and is emitted after a while.
 *
 * Signs of life that say nothing restart the silence, so only the total ends an answer of pings.
 *
 * One part is asked for at a time. A caller that takes parts as they come asks for the next part
 * with each one.
 */
export interface AnswerDeadlines {
  noteFirstAsked(answer: DeadlineHolder): void;
  /** The upstream has begun, and said nothing yet. */
  noteBegun(answer: DeadlineHolder): void;
  noteAsked(answer: DeadlineHolder): void;
  /** Something has come that says nothing. */
  noteAlive(answer: DeadlineHolder): void;
  /** The part that was asked for has come. */
  noteEmitted(answer: DeadlineHolder): void;
  noteOver(answer: DeadlineHolder): void;
}

/** For all answers. */
const beginnings = createDeadlineList<DeadlineHolder>({
  afterMs: BEGINNING_HELD_MAX_MS,
  nowMs: () => performance.now(),
  onDue: (answer) => answer.emitBeginning(),
});

/** For all answers with these limits. */
export function createAnswerDeadlines(limits: Limits): AnswerDeadlines {
  const listFor = (afterMs: number, onDue: (answer: DeadlineHolder) => void) =>
    createDeadlineList({ afterMs, nowMs: () => performance.now(), onDue });
  // If two limits are equal, the first list names the reason.
  const total = listFor(limits.totalMs, (answer) => {
    const overdue = answer.judgeOverdue();
    if (overdue !== 'unread') answer.expire(failTooLong(limits, overdue));
  });
  const firstByte = listFor(limits.firstByteMs, (answer) => answer.expire(failUnbegun(limits)));
  const idle = listFor(limits.idleMs, (answer) => answer.expire(failSilent(limits)));
  return {
    noteFirstAsked(answer) {
      answer.totalDeadline = total.add(answer);
      if (limits.firstByteMs < limits.totalMs) answer.firstByteDeadline = firstByte.add(answer);
    },
    noteBegun(answer) {
      firstByte.delete(answer.firstByteDeadline);
      answer.firstByteDeadline = undefined;
      answer.beginningDeadline ??= beginnings.add(answer);
    },
    noteAsked(answer) {
      if (answer.idleDeadline === undefined) answer.idleDeadline = idle.add(answer);
      else idle.renew(answer.idleDeadline);
    },
    noteAlive({ idleDeadline }) {
      if (idleDeadline?.isListed === true) idle.renew(idleDeadline);
    },
    noteEmitted(answer) {
      firstByte.delete(answer.firstByteDeadline);
      answer.firstByteDeadline = undefined;
      endBeginning(answer);
      idle.delete(answer.idleDeadline);
    },
    noteOver(answer) {
      total.delete(answer.totalDeadline);
      firstByte.delete(answer.firstByteDeadline);
      endBeginning(answer);
      idle.delete(answer.idleDeadline);
    },
  };
}

function endBeginning(answer: DeadlineHolder): void {
  beginnings.delete(answer.beginningDeadline);
  answer.beginningDeadline = undefined;
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

/**
 * Once it has begun, this is no sign of a bad upstream: answers can be long, and clients slow.
 * Another try would take as long, and a whole answer is charged to nobody.
 */
function failTooLong({ totalMs }: Limits, overdue: 'begun' | 'unbegun'): UpstreamFailure {
  const message = `The answer took longer than ${totalMs / 1_000} seconds.`;
  const refusal = refuseSlow(message, DO_NOT_RETRY);
  return new UpstreamFailure(overdue === 'begun' ? 'refused' : 'slow', refusal, { isFinal: true });
}

function refuseSlow(message: string, headers: Refusal['headers'] = {}): Refusal {
  return new Refusal('answer_too_slow', message, { reason: message, headers });
}
