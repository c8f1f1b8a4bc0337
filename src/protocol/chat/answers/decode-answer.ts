import type { InferenceEvent, Usage } from '../../inference.ts';
import { type Json, parseUpstreamJson } from '../../json/upstream-json.ts';
import { createChunkDecoder, throwError } from './decode-chunks.ts';
import { decodeUsage } from './decode-usage.ts';

/** Decodes an answer that is not a stream: it is read as a stream of one chunk. */
export function decodeChatAnswer(body: string): readonly InferenceEvent[] {
  return decodeChatPayload(parseUpstreamJson(body));
}

/** Reads only the usage of an answer. */
export function readChatUsage(answer: Json): Usage | undefined {
  throwError(answer);
  return decodeUsage(answer['usage']);
}

/** Does the same for an answer that is already parsed. */
export function decodeChatPayload(answer: Json): readonly InferenceEvent[] {
  const chunks = createChunkDecoder('message');
  const events = chunks.decode(answer);
  return [...events, ...chunks.finish()];
}
