import type { ContentBlock, Message } from '../../inference.ts';
import { isUnsigned } from '../../own-signature.ts';
import { hasResults } from './has-results.ts';

/**
 * Whether a model may go on to think. It must not if the calls whose results it gets were made
 * without thinking, or if their thoughts were lost on the way.
 */
export function hasThoughts(messages: readonly Message[]): boolean {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const calls = messages[last]?.content ?? '';
  const isLoop = messages.slice(last + 1).some(hasResults);
  if (!isLoop || typeof calls === 'string') return true;
  const [first] = calls;
  return first !== undefined && isThought(first);
}

/** Whether any calls came without thoughts. */
export function lacksThoughts(messages: readonly Message[]): boolean {
  return messages.some(({ content }) => {
    if (typeof content === 'string' || !content.some(({ type }) => type === 'tool_use'))
      return false;
    return !content.some(isThought);
  });
}

function isThought(block: ContentBlock): boolean {
  if (block.type === 'thinking') return !isUnsigned(block);
  return block.type === 'redacted_thinking';
}
