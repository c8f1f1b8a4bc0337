import type { BlockedAnswers } from './blocked-answers.ts';
import type { HttpLimits } from './http-limits.ts';

/** What all writers of one server share. */
export interface WriterContext {
  readonly limits: HttpLimits;
  /**
   * Responses that wait for a slow peer. They are touched regularly so that uWS does not close
   * them.
   */
  readonly waiting: Set<{ touch(): void }>;
  readonly blockedAnswers: BlockedAnswers;
}

export interface WriterOwner {
  /** Called once: the answer is complete or the connection is gone. */
  onAnswerFinished(): void;
}
