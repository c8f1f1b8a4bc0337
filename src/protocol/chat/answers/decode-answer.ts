import type { InferenceEvent, Usage } from '../../inference.ts';
import { type Json, parseUpstreamJson } from '../../json/upstream-json.ts';
import { createChunkDecoder, throwError } from './decode-chunks.ts';
import { decodeUsage } from './decode-usage.ts';

/** The events of an answer that comes as a whole: it is read as a stream of one chunk. */
export function decodeChatAnswer(body: string): readonly InferenceEvent[] {
  return decodeChatPayload(parseUpstreamJson(body));
}

/** What an answer says of its cost, for whoever wants nothing else. */
export function readChatUsage(answer: Json): Usage | undefined {
  throwError(answer);
  return decodeUsage(answer['usage']);
}

/** The same behind the JSON, for those who have read that already. */
export function decodeChatPayload(answer: Json): readonly InferenceEvent[] {
  const chunks = createChunkDecoder('message');
  const events = chunks.decode(answer);
  return [...events, ...chunks.finish()];
}
