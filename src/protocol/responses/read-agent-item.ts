import { isObject } from '../schema.ts';
import type { ResponseItem } from './references.ts';

/** How all that OpenAI has encrypted begins. */
const CIPHERTEXT = 'gAAAA';
const UNREADABLE = 'The text is encrypted and cannot be read here.';

/**
 * Agents send each other what only OpenAI's own models read: messages of their own kind, and parts
 * that are encrypted if the vendor wrote them and plain texts if a model here did. Returns an item
 * in the words that every model reads, and all others as they are.
 */
export function readAgentItem<Item extends ResponseItem>(item: Item): Item | ResponseItem {
  if (item['type'] === 'agent_message') return sayAsUser(item);
  const place = Array.isArray(item['output']) ? 'output' : 'content';
  const parts = item[place];
  if (!Array.isArray(parts) || !parts.some(isEncrypted)) return item;
  return { ...item, [place]: parts.map(readPart) };
}

function sayAsUser({ author, content }: ResponseItem): ResponseItem {
  const parts = Array.isArray(content) ? content : [{ type: 'input_text', text: content }];
  const intro = { type: 'input_text', text: `Agent message from ${author ?? 'another agent'}:` };
  return { type: 'message', role: 'user', content: [intro, ...parts.map(readPart)] };
}

function readPart(part: unknown): unknown {
  if (!isEncrypted(part)) return part;
  const text = part.encrypted_content;
  return { type: 'input_text', text: text.startsWith(CIPHERTEXT) ? UNREADABLE : text };
}

function isEncrypted(part: unknown): part is { readonly encrypted_content: string } {
  return (
    isObject(part) &&
    part['type'] === 'encrypted_content' &&
    typeof part['encrypted_content'] === 'string'
  );
}
