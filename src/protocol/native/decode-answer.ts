import { decodeStreamError } from '../decode-upstream-error.ts';
import type { InferenceEvent } from '../inference.ts';
import { brokenAnswer, parseUpstreamJson } from '../upstream-json.ts';
import { createBlockDecoder } from './decode-blocks.ts';
import { decodeEnding } from './decode-ending.ts';
import { decodeUsage, NO_USAGE, tellsUsage } from './decode-usage.ts';

/** The events of an answer that comes as a whole. */
export function decodeNativeAnswer(body: string): readonly InferenceEvent[] {
  const answer = parseUpstreamJson(body);
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
