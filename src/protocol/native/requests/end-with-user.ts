import type { Message } from '../../inference.ts';

const GO_ON: Message = { role: 'user', content: 'Go on.' };

/**
 * Native models answer a user, and newer ones refuse to continue from their own words. Clients of
 * other formats may still end with what the assistant said.
 */
export function endWithUser(messages: readonly Message[]): readonly Message[] {
  return messages.at(-1)?.role === 'assistant' ? [...messages, GO_ON] : messages;
}
