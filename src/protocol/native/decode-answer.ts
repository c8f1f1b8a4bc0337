import { decodeStreamError } from '../decode-upstream-error.ts';
import type { InferenceEvent } from '../inference.ts';
import { brokenAnswer, type Json, parseUpstreamJson } from '../upstream-json.ts';
import { createBlockDecoder } from './decode-blocks.ts';
import { decodeEnding } from './decode-ending.ts';
import { decodeUsage, NO_USAGE, tellsUsage } from './decode-usage.ts';

/** The events of an answer that comes as a whole. */
export function decodeNativeAnswer(body: string): readonly InferenceEvent[] {
  return decodePayload(parseUpstreamJson(body));
}

/**
 * The same, and what a native client gets to read: all of the answer, with what nobody here knows in it. Without
 * usage it is better written anew, with an estimate.
 */
export function relayNativeAnswer(
  body: string,
  model: string,
): { readonly events: readonly InferenceEvent[]; readonly text: string | undefined } {
  const answer = parseUpstreamJson(body);
  const events = decodePayload(answer);
  const text = tellsUsage(answer['usage']) ? JSON.stringify({ ...answer, model }) : undefined;
  return { events, text };
}

function decodePayload(answer: Json): readonly InferenceEvent[] {
  if (answer['type'] === 'error') throw decodeStreamError(answer);
  const { id, model, content } = answer;
  if (typeof id !== 'string' || typeof model !== 'string') throw brokenAnswer('it has no id');
  if (!Array.isArray(content)) throw brokenAnswer('it has no content');

  const usage = decodeUsage(answer['usage'], NO_USAGE);
  const blocks = createBlockDecoder();
  const events: InferenceEvent[] = [{ type: 'start', id, model, usage }];
  for (const block of content) {
    events.push(...blocks.start({ content_block: block }), ...blocks.stop());
  }
  events.push({
    type: 'finish',
    ...decodeEnding(answer),
    usage: tellsUsage(answer['usage']) ? usage : undefined,
  });
  return events;
}
