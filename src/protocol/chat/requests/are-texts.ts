import { isBlank } from '../../fields/is-blank.ts';
import type { ChatMessage } from './chat-request.ts';

/**
 * Whether a conversation has only plain texts: at most one system message, at the head, and then
 * user and assistant messages that have a role, a text and nothing else.
 */
export function areTexts(messages: unknown): boolean {
  const all = messages as readonly ChatMessage[];
  for (let i = 0; i < all.length; i++) if (!isText(all[i], i === 0)) return false;
  return true;
}

function isText(message: ChatMessage | undefined, isFirst: boolean): boolean {
  if (message === undefined || typeof message.content !== 'string') return false;
  const { role, content } = message;
  const isKnown = role === 'user' || role === 'assistant' || (role === 'system' && isFirst);
  return isKnown && Object.keys(message).length === 2 && !isBlank(content);
}
