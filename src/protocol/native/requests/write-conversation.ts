import type { Message } from '../../inference.ts';
import { hasInputText, writeContent } from '../write-content.ts';

/** Writes messages as JSON, with the texts of inputs that were kept. */
export function writeConversation(messages: readonly Message[]): string {
  if (!messages.some(isKept)) return JSON.stringify(messages);
  return `[${messages.map(writeTurn).join(',')}]`;
}

/** Texts of inputs are kept only for other formats, so a message has no fields but these. */
function writeTurn(message: Message): string {
  const { role, content } = message;
  if (typeof content === 'string') return JSON.stringify(message);
  return `{"role":${JSON.stringify(role)},"content":${writeContent(content)}}`;
}

function isKept({ content }: Message): boolean {
  return typeof content !== 'string' && hasInputText(content);
}
