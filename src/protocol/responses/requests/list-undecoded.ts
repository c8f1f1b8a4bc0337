import {
  addBlank,
  addObjects,
  addUndecoded,
  byType,
  type FieldPlace,
  type PlaceFinder,
  toFieldPlace,
  wrapMarker,
} from '../../fields/add-undecoded.ts';
import { isObject } from '../../schema.ts';
import { isSealed } from '../../sealed-reasoning.ts';
import { readAgentItem } from '../read-agent-item.ts';
import { kindOfItem } from './request-schema.ts';
import type { ResponsesRequest } from './responses-request.ts';

const NOTHING: readonly never[] = Object.freeze([]);

const TEXT = { type: 'whole', text: 'text' } as const;
const IMAGE = toFieldPlace({ url: 'whole' });
const PARTS = {
  input_text: toFieldPlace(TEXT),
  output_text: toFieldPlace(TEXT),
  text: toFieldPlace(TEXT),
  refusal: toFieldPlace({ type: 'whole', refusal: 'text' }),
  input_image: toFieldPlace({ type: 'whole', image_url: () => IMAGE, detail: 'label' }),
  input_file: toFieldPlace({ type: 'whole', file_data: 'whole', file_url: 'whole' }),
};
const outputParts = byType(PARTS);
/** No model reads how likely its words were, and clients bring that back with each answer. */
const messageParts = byType({
  ...PARTS,
  output_text: toFieldPlace({ ...TEXT, logprobs: 'whole' }),
});

const TOOL = { type: 'whole', name: 'whole', description: 'whole' } as const;
const findTextFormat = byType({
  text: toFieldPlace({ type: 'whole' }),
  grammar: toFieldPlace({ type: 'whole', definition: 'whole', syntax: 'whole' }),
});
/** What a namespace says of itself is left out. */
const findTool: PlaceFinder = byType({
  function: toFieldPlace({ ...TOOL, parameters: 'whole', strict: 'whole' }),
  custom: toFieldPlace({ ...TOOL, format: findTextFormat }),
  namespace: toFieldPlace({ type: 'whole', tools: (tool) => findTool(tool) }),
});

const ITEM = { type: 'whole', id: 'label', status: 'label' } as const;
const CALL = { ...ITEM, call_id: 'whole' } as const;
const OUTPUT = toFieldPlace({ ...CALL, output: outputParts });
const ITEMS: ReadonlyMap<unknown, FieldPlace> = new Map([
  ['message', toFieldPlace({ ...ITEM, role: 'whole', content: messageParts })],
  ['function_call', toFieldPlace({ ...CALL, name: 'whole', arguments: 'whole' })],
  ['function_call_output', OUTPUT],
  ['custom_tool_call', toFieldPlace({ ...CALL, name: 'whole', input: 'whole' })],
  ['custom_tool_call_output', OUTPUT],
  ['additional_tools', toFieldPlace({ ...ITEM, role: 'label', tools: findTool })],
  ['reasoning', toFieldPlace({ ...ITEM, encrypted_content: 'whole' })],
]);
/** A name in a namespace is shortened. */
const CALLS_OF_NAMESPACES: ReadonlyMap<unknown, FieldPlace> = new Map([
  ['function_call', toFieldPlace({ ...CALL, arguments: 'whole' })],
  ['custom_tool_call', toFieldPlace({ ...CALL, input: 'whole' })],
]);

const findItem: PlaceFinder = (item) =>
  (item['namespace'] == null ? ITEMS : CALLS_OF_NAMESPACES).get(kindOfItem(item));

/** Nobody gets items that are unread, and thoughts that were not sealed here. */
function isSent(item: Readonly<Record<string, unknown>>): boolean {
  const kind = kindOfItem(item);
  if (kind !== 'reasoning') return kind !== 'unread';
  const { encrypted_content: sealed } = item;
  return typeof sealed === 'string' && isSealed(sealed);
}

const PLAIN_FORMAT = toFieldPlace({ type: 'whole' });
/** The schema of the answer is decoded; a model reads the rest of its format as well. */
const findFormat = byType({
  text: PLAIN_FORMAT,
  json_object: PLAIN_FORMAT,
  json_schema: toFieldPlace({ type: 'whole', schema: 'whole', strict: 'whole' }),
});
const TEXT_TERMS = toFieldPlace({ format: findFormat, verbosity: 'label' });
const REASONING = toFieldPlace({ effort: 'label', summary: 'label' });

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
  for (const said of [body.instructions, body.input]) {
    if (typeof said === 'string') addBlank(said, undecoded);
  }
  if (typeof body.input === 'object') {
    for (const item of body.input ?? []) {
      if (isSent(item)) addObjects(readAgentItem(item), findItem, undecoded);
    }
  }
  for (const tool of body.tools ?? []) {
    const place = findTool({ type: tool.type });
    // Tools that a vendor runs are never sent.
    if (place !== undefined) addUndecoded(tool, place, undecoded);
  }
  if (isObject(body.tool_choice)) undecoded.push(body.tool_choice);
  if (body.text != null) addUndecoded(body.text, TEXT_TERMS, undecoded);
  if (body.reasoning != null) addUndecoded(body.reasoning, REASONING, undecoded);
  return undecoded.length > 0 ? undecoded : NOTHING;
}
