import type { InferenceRequest } from '../inference.ts';
import { readObject } from '../json/upstream-json.ts';

/** Whether the client says that the model is not to think, in the words of its format. */
export function wantsNoThinking({ effort, passedOn }: InferenceRequest): boolean {
  return effort === 'none' || readObject(passedOn, 'thinking')['type'] === 'disabled';
}
