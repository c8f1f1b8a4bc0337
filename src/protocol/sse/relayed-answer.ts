import type { Closing, InferenceEvent } from '../inference.ts';

/** A whole answer for a client of its own format. */
export interface RelayedAnswer {
  /** The start and the end; all of them where it has to be written anew. */
  readonly events: readonly InferenceEvent[];
  /** Of what is said between those two. */
  readonly contentBytes: number;
  /** All of its bytes; `undefined` where it has to be written anew. */
  readonly closing: Closing | undefined;
}
