import type { Closing, InferenceEvent } from '../inference.ts';

/** A whole answer for a client that reads the format of the upstream. */
export interface RelayedAnswer {
  /** The start, thoughts and the finish, or all events if the answer has to be re-encoded. */
  readonly events: readonly InferenceEvent[];
  /** The bytes of the content between start and finish. */
  readonly contentBytes: number;
  /** Writes all bytes of the answer; `undefined` if the answer has to be re-encoded. */
  readonly closing: Closing | undefined;
}
