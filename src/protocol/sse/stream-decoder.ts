import type { InferenceEvent } from '../inference.ts';
import type { SseEvent } from './sse-decoder.ts';

/** Decodes the stream of an upstream, in any format. */
export interface StreamDecoder {
  /** Throws a `Refusal` if the upstream reports an error or makes no sense. */
  decode(event: SseEvent): InferenceEvent[];
  /** Says that the stream has ended. Throws a `Refusal` if the answer is not complete. */
  end(): InferenceEvent[];
}
