import { isBlank } from '../../fields/is-blank.ts';
import { isObject } from '../../schema.ts';
import { kindOfItem } from './request-schema.ts';
import type { InputItem, ResponsesRequest, ToolDefinition } from './responses-request.ts';

const NOTHING: readonly never[] = Object.freeze([]);

/** Values under these names are decoded, or contain nothing that a model would read. */
const READ_NAMES: ReadonlySet<string> = new Set([
  ...['type', 'role', 'id', 'status', 'call_id', 'content', 'output', 'text', 'refusal'],
  ...['name', 'arguments', 'input', 'tools', 'description', 'parameters', 'format'],
  ...['image_url', 'file_data', 'file_url', 'detail', 'strict'],
]);
const READ_KINDS: ReadonlySet<unknown> = new Set([
  ...['message', 'function_call', 'function_call_output', 'custom_tool_call'],
  ...['custom_tool_call_output', 'additional_tools'],
]);

/** Decoding leaves these out if they are blank. */
const TEXT_NAMES: ReadonlySet<string> = new Set(['content', 'text', 'output', 'refusal']);

/**
 * Lists what decoding leaves out of items and tools, the tools that are not offered and other
 * values that it has left, and the unknown fields: an upstream of this format gets to read all of
 * it. Most requests have nothing of the kind.
 */
export function listUnread(
  body: ResponsesRequest,
  unknownFields: readonly string[],
  left: readonly unknown[],
): readonly unknown[] {
  const unread: unknown[] = unknownFields.map((name) => body[name]);
  for (const value of left) unread.push(value);
  for (const said of [body.instructions, body.input]) if (isBlankText(said)) unread.push(said);
  if (typeof body.input === 'object' && body.input !== null) {
    for (const item of body.input) addItem(item, unread);
  }
  for (const tool of body.tools ?? []) addTool(tool, unread);
  addFormatTerms(body.text, unread);
  return unread.length > 0 ? unread : NOTHING;
}

function addItem(item: InputItem, unread: unknown[]): void {
  const kind = kindOfItem(item);
  if (READ_KINDS.has(kind)) addUnread(item, unread, kind === 'message' ? 'message' : 'other');
  else unread.push(item);
}

function addTool(tool: ToolDefinition, unread: unknown[]): void {
  const { type } = tool;
  if (type === 'function' || type === 'custom' || type === 'namespace') {
    addUnread(tool, unread, 'other');
  }
}

/** The schema of the answer is decoded; a model reads the rest of its format as well. */
function addFormatTerms(text: ResponsesRequest['text'], unread: unknown[]): void {
  const format = text?.format;
  if (format?.type !== 'json_schema') return;
  for (const said of [format.name, format.description]) if (said != null) unread.push(said);
}

/** A message, a part of one, or anything else. */
type Place = 'message' | 'part' | 'other';

function addUnread(value: object, unread: unknown[], place: Place): void {
  addNames(value, unread);
  // `for in` makes no list of names for each item. Parsed JSON has no inherited names.
  for (const name in value) {
    // No model reads how likely its words were, and clients bring that back with each answer.
    if (name === 'logprobs' && place === 'part') continue;
    const field: unknown = Reflect.get(value, name);
    if (field === null || (Array.isArray(field) && field.length === 0)) continue;
    if (!READ_NAMES.has(name) || (TEXT_NAMES.has(name) && isBlankText(field))) unread.push(field);
    else if (Array.isArray(field)) {
      addUnreadOfItems(field, unread, place === 'message' && name === 'content' ? 'part' : 'other');
    }
  }
}

/** A name in a namespace is shortened, and what a namespace says of itself is left out. */
function addNames(value: object, unread: unknown[]): void {
  const { type, name, namespace, description } = value as Readonly<Record<string, unknown>>;
  if (type !== 'namespace' && namespace == null) return;
  unread.push(name);
  if (type === 'namespace' && description != null) unread.push(description);
}

function addUnreadOfItems(items: readonly unknown[], unread: unknown[], place: Place): void {
  for (const item of items) if (isObject(item)) addUnread(item, unread, place);
}

function isBlankText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && isBlank(value);
}
