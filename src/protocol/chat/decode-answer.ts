import type { InferenceEvent } from '../inference.ts';
import { isObject } from '../schema.ts';
import { type Json, parseUpstreamJson } from '../upstream-json.ts';
import { createChunkDecoder } from './decode-chunks.ts';

/** The events of an answer that comes as a whole: it is read as a stream of one chunk. */
export function decodeChatAnswer(body: string): readonly InferenceEvent[] {
  return decodeChatPayload(parseUpstreamJson(body));
}

/** The same behind the JSON, for those who have read that already. */
export function decodeChatPayload(answer: Json): readonly InferenceEvent[] {
  const { choices } = answer;
  const chunks = createChunkDecoder();
  const events = chunks.decode({
    ...answer,
    choices: Array.isArray(choices)
      ? choices.filter(isObject).map((choice) => ({ ...choice, delta: choice['message'] }))
      : undefined,
  });
  return [...events, ...chunks.finish()];
}
