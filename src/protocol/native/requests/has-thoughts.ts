import type { Message } from '../../inference.ts';

/**
 * Whether a model may go on to think. It must not if the calls whose results it gets were made
 * without thinking, or if their thoughts were lost on the way.
 */
export function hasThoughts(messages: readonly Message[]): boolean {
  const results = messages.at(-1)?.content ?? '';
  const isLoop = typeof results !== 'string' && results.some(({ type }) => type === 'tool_result');
  const calls = messages.findLast(({ role }) => role === 'assistant')?.content ?? '';
  if (!isLoop || typeof calls === 'string') return true;
  const first = calls[0]?.type;
  return first === 'thinking' || first === 'redacted_thinking';
}
