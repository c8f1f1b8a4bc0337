import { isBlank } from '../../fields/is-blank.ts';
import { isObject } from '../../schema.ts';
import type { ChatRequest } from './chat-request.ts';
import { listUnoffered } from './decode-tools.ts';

const NOTHING: readonly never[] = Object.freeze([]);

/** Values under these names are decoded, or contain nothing that a model would read. */
const READ_NAMES: ReadonlySet<string> = new Set([
  ...['role', 'content', 'type', 'text', 'tool_calls', 'tool_call_id', 'function_call'],
  ...['function', 'name', 'arguments', 'id', 'description', 'parameters'],
  ...['image_url', 'url', 'file', 'file_data'],
]);

/**
 * Lists what decoding leaves out of messages and tools, texts that it has left, the tools that are
 * not offered, and the unknown fields: an upstream of the chat format gets to read all of it. Most
 * requests have nothing of the kind.
 */
export function listUnread(
  chat: ChatRequest,
  unknownFields: readonly string[],
  left: readonly string[],
): readonly unknown[] {
  const unread: unknown[] = unknownFields.map((name) => chat[name]);
  for (const text of left) unread.push(text);
  if (chat['chat_template_kwargs'] != null) unread.push(chat['chat_template_kwargs']);
  if (chat['cache_control'] != null) unread.push({ cache_control: chat['cache_control'] });
  for (const message of chat.messages) {
    if ('name' in message && message.name !== null) unread.push(message.name);
    addUnread(message, unread);
  }
  for (const tool of chat.tools ?? []) addUnread(tool, unread);
  for (const definition of chat.functions ?? []) addUnread(definition, unread);
  for (const definition of listUnoffered(chat)) unread.push(definition);
  addFormatTerms(chat.response_format, unread);
  return unread.length > 0 ? unread : NOTHING;
}

/** The schema of the answer is decoded; a model reads the rest of its format as well. */
function addFormatTerms(format: ChatRequest['response_format'], unread: unknown[]): void {
  if (format?.type !== 'json_schema') return;
  const { name, description } = format.json_schema;
  unread.push(name);
  if (description != null) unread.push(description);
}

function addUnread(value: object, unread: unknown[]): void {
  for (const name of Object.keys(value)) {
    const field: unknown = Reflect.get(value, name);
    if (field === null) continue;
    if (name === 'cache_control') unread.push({ cache_control: field });
    else if (!READ_NAMES.has(name) || isBlankText(name, field)) unread.push(field);
    else if (Array.isArray(field)) addUnreadOfItems(field, unread);
    else if (name !== 'parameters' && isObject(field)) addUnread(field, unread);
  }
}

function addUnreadOfItems(items: readonly unknown[], unread: unknown[]): void {
  for (const item of items) if (isObject(item)) addUnread(item, unread);
}

/** Decoding leaves out blank texts. */
function isBlankText(name: string, field: unknown): boolean {
  if (typeof field !== 'string' || (name !== 'content' && name !== 'text')) return false;
  return field !== '' && isBlank(field);
}
