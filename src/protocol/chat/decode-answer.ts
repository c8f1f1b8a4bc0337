import type { InferenceEvent } from '../inference.ts';
import { type Json, parseUpstreamJson } from '../upstream-json.ts';
import { createChunkDecoder } from './decode-chunks.ts';

/** The events of an answer that comes as a whole: it is read as a stream of one chunk. */
export function decodeChatAnswer(body: string): readonly InferenceEvent[] {
  return decodeChatPayload(parseUpstreamJson(body));
}

/** The same behind the JSON, for those who have read that already. */
export function decodeChatPayload(answer: Json): readonly InferenceEvent[] {
  const chunks = createChunkDecoder('message');
  const events = chunks.decode(answer);
  return [...events, ...chunks.finish()];
}
