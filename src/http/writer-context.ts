import type { HttpLimits } from './http-limits.ts';

/** What all writers of one server share. */
export interface WriterContext {
  readonly limits: HttpLimits;
  /** Responses that wait for a slow peer; touched regularly so that uWS does not time them out. */
  readonly waiting: Set<{ touch(): void }>;
}

export interface WriterOwner {
  /** Called once: the answer is complete or the connection is gone. */
  onAnswerFinished(): void;
}
