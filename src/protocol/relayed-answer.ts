import type { InferenceEvent } from './inference.ts';

/** A whole answer for a client of its own format. */
export interface RelayedAnswer {
  /** The start and the end; all of them where there are no bytes. */
  readonly events: readonly InferenceEvent[];
  /** Of what is said between those two. */
  readonly contentBytes: number;
  /** `undefined` where it has to be written anew. */
  readonly bytes: Uint8Array | undefined;
}
