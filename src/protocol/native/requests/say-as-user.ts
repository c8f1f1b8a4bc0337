import type { Message } from '../../inference.ts';
import { hasResults } from './has-results.ts';

/**
 * Lets a user say what the system says among the messages, for models that take no other role
 * there. Results stay right after their calls.
 */
export function sayAsUser(messages: readonly Message[]): readonly Message[] {
  if (!saysSystem(messages)) return messages;
  const said: Message[] = [];
  let waiting: Message[] = [];
  for (const message of messages) {
    if (message.role === 'system') {
      waiting.push({ ...message, role: 'user' });
      continue;
    }
    if (!hasResults(message)) {
      for (const each of waiting) said.push(each);
      waiting = [];
    }
    said.push(message);
  }
  return [...said, ...waiting];
}

export function saysSystem(messages: readonly Message[]): boolean {
  return messages.some(({ role }) => role === 'system');
}
