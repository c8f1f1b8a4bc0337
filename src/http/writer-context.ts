import type { HttpLimits } from './http-limits.ts';
import type { ResponseWriter } from './response-writer.ts';

/** What all writers of one server share. */
export interface WriterContext {
  readonly limits: HttpLimits;
  /** Responses that wait for a slow peer; touched regularly so that uWS does not time them out. */
  readonly waiting: Set<ResponseWriter>;
}

export interface WriterOwner {
  /** Called once: the answer is complete or the connection is gone. */
  onAnswerFinished(): void;
}
