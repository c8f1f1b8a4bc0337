import type { HttpLimits } from './http-limits.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** What all writers of one server share. */
export interface WriterContext {
  readonly limits: HttpLimits;
  /**
   * Responses that wait for a slow peer. They are touched regularly so that uWS does not close
   * them.
   */
  readonly waiting: Set<{ touch(): void }>;
  readonly unreadAnswers: UnreadAnswers;
}

export interface WriterOwner {
  /** Called once: the answer is complete or the connection is gone. */
  onAnswerFinished(): void;
}
