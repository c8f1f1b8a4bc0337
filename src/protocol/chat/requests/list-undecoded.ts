import { isBlank } from '../../fields/is-blank.ts';
import { isObject } from '../../schema.ts';
import type { ChatRequest } from './chat-request.ts';
import { listUnoffered } from './decode-tools.ts';

const NOTHING: readonly never[] = Object.freeze([]);

/** Values under these names are decoded, or contain nothing that a model would read. */
const DECODED_NAMES: ReadonlySet<string> = new Set([
  ...['role', 'content', 'type', 'text', 'tool_calls', 'tool_call_id', 'function_call'],
  ...['function', 'name', 'arguments', 'id', 'description', 'parameters'],
  ...['image_url', 'url', 'file', 'file_data'],
]);

/**
 * Lists what decoding leaves out of messages and tools, texts that it has left, the tools that are
 * not offered, and the unknown fields: an upstream of the chat format gets to read all of it. Most
 * requests have nothing of the kind.
 */
export function listUndecoded(
  chat: ChatRequest,
  unknownFields: readonly string[],
  left: readonly string[],
): readonly unknown[] {
  const undecoded: unknown[] = unknownFields.map((name) => chat[name]);
  for (const text of left) undecoded.push(text);
  if (chat['chat_template_kwargs'] != null) undecoded.push(chat['chat_template_kwargs']);
  if (chat['cache_control'] != null) undecoded.push({ cache_control: chat['cache_control'] });
  for (const message of chat.messages) {
    if ('name' in message && message.name !== null) undecoded.push(message.name);
    addUndecoded(message, undecoded);
  }
  for (const tool of chat.tools ?? []) addUndecoded(tool, undecoded);
  for (const definition of chat.functions ?? []) addUndecoded(definition, undecoded);
  for (const definition of listUnoffered(chat)) undecoded.push(definition);
  addFormatTerms(chat.response_format, undecoded);
  return undecoded.length > 0 ? undecoded : NOTHING;
}

/** The schema of the answer is decoded; a model reads the rest of its format as well. */
function addFormatTerms(format: ChatRequest['response_format'], undecoded: unknown[]): void {
  if (format?.type !== 'json_schema') return;
  const { name, description } = format.json_schema;
  undecoded.push(name);
  if (description != null) undecoded.push(description);
}

function addUndecoded(value: object, undecoded: unknown[]): void {
  for (const name of Object.keys(value)) {
    const field: unknown = Reflect.get(value, name);
    if (field === null) continue;
    if (name === 'cache_control') undecoded.push({ cache_control: field });
    else if (!DECODED_NAMES.has(name) || isBlankText(name, field)) undecoded.push(field);
    else if (Array.isArray(field)) addUndecodedOfItems(field, undecoded);
    else if (name !== 'parameters' && isObject(field)) addUndecoded(field, undecoded);
  }
}

function addUndecodedOfItems(items: readonly unknown[], undecoded: unknown[]): void {
  for (const item of items) if (isObject(item)) addUndecoded(item, undecoded);
}

/** Decoding leaves out blank texts. */
function isBlankText(name: string, field: unknown): boolean {
  if (typeof field !== 'string' || (name !== 'content' && name !== 'text')) return false;
  return field !== '' && isBlank(field);
}
