import type { Message } from '../../inference.ts';

/** Whether a message has the result of a tool. */
export function hasResults({ content }: Message): boolean {
  return typeof content !== 'string' && content.some(({ type }) => type === 'tool_result');
}
