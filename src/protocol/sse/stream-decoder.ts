import type { InferenceEvent } from '../inference.ts';
import type { SseEvent } from './sse-decoder.ts';

/** Reads what an upstream streams, in whichever format. */
export interface StreamDecoder {
  /** Throws a `Refusal` when the upstream tells of an error, or makes no sense. */
  decode(event: SseEvent): InferenceEvent[];
  /** Nothing more comes: throws a `Refusal` when something should have. */
  end(): InferenceEvent[];
}
