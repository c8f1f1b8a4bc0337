import { isBlank } from '../../fields/is-blank.ts';
import { isObject } from '../../schema.ts';
import { kindOfItem } from './request-schema.ts';
import type { InputItem, ResponsesRequest, ToolDefinition } from './responses-request.ts';

const NOTHING: readonly never[] = Object.freeze([]);

/** Values under these names are decoded, or contain nothing that a model would read. */
const DECODED_NAMES: ReadonlySet<string> = new Set([
  ...['type', 'role', 'id', 'status', 'call_id', 'content', 'output', 'text', 'refusal'],
  ...['name', 'arguments', 'input', 'tools', 'description', 'parameters', 'format'],
  ...['image_url', 'file_data', 'file_url', 'detail', 'strict'],
]);
const DECODED_KINDS: ReadonlySet<unknown> = new Set([
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
export function listUndecoded(
  body: ResponsesRequest,
  unknownFields: readonly string[],
  left: readonly unknown[],
): readonly unknown[] {
  const undecoded: unknown[] = unknownFields.map((name) => wrapMarker(name, body[name]));
  for (const value of left) undecoded.push(value);
  for (const said of [body.instructions, body.input]) if (isBlankText(said)) undecoded.push(said);
  if (typeof body.input === 'object' && body.input !== null) {
    for (const item of body.input) addItem(item, undecoded);
  }
  for (const tool of body.tools ?? []) addTool(tool, undecoded);
  addFormatTerms(body.text, undecoded);
  return undecoded.length > 0 ? undecoded : NOTHING;
}

function addItem(item: InputItem, undecoded: unknown[]): void {
  const kind = kindOfItem(item);
  const place = kind === 'message' ? 'message' : 'other';
  if (DECODED_KINDS.has(kind)) addUndecoded(item, undecoded, place);
  else undecoded.push(item);
}

function addTool(tool: ToolDefinition, undecoded: unknown[]): void {
  const { type } = tool;
  if (type === 'function' || type === 'custom' || type === 'namespace') {
    addUndecoded(tool, undecoded, 'other');
  }
}

/** The schema of the answer is decoded; a model reads the rest of its format as well. */
function addFormatTerms(text: ResponsesRequest['text'], undecoded: unknown[]): void {
  const format = text?.format;
  if (format?.type !== 'json_schema') return;
  for (const said of [format.name, format.description]) if (said != null) undecoded.push(said);
}

/** A message, a part of one, or anything else. */
type Place = 'message' | 'part' | 'other';

function addUndecoded(value: object, undecoded: unknown[], place: Place): void {
  addNames(value, undecoded);
  // `for in` makes no list of names for each item. Parsed JSON has no inherited names.
  for (const name in value) {
    // No model reads how likely its words were, and clients bring that back with each answer.
    if (name === 'logprobs' && place === 'part') continue;
    const field: unknown = Reflect.get(value, name);
    if (field === null || (Array.isArray(field) && field.length === 0)) continue;
    const isLeftOut = !DECODED_NAMES.has(name) || (TEXT_NAMES.has(name) && isBlankText(field));
    if (isLeftOut) undecoded.push(wrapMarker(name, field));
    else if (Array.isArray(field)) {
      const isOfParts = place === 'message' && name === 'content';
      addUndecodedOfItems(field, undecoded, isOfParts ? 'part' : 'other');
    }
  }
}

/** A cache marker is told from what else is left out by an object of its own. */
function wrapMarker(name: string, field: unknown): unknown {
  return name === 'cache_control' ? { cache_control: field } : field;
}

/** A name in a namespace is shortened, and what a namespace says of itself is left out. */
function addNames(value: object, undecoded: unknown[]): void {
  const { type, name, namespace, description } = value as Readonly<Record<string, unknown>>;
  if (type !== 'namespace' && namespace == null) return;
  undecoded.push(name);
  if (type === 'namespace' && description != null) undecoded.push(description);
}

function addUndecodedOfItems(items: readonly unknown[], undecoded: unknown[], place: Place): void {
  for (const item of items) if (isObject(item)) addUndecoded(item, undecoded, place);
}

function isBlankText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && isBlank(value);
}
