import { calledName, callId, ID_CHARS_MAX, modelName } from '../../fields/call-texts.ts';
import { TOOL_NAME_CHARS_MAX } from '../../fields/fit-tool-name.ts';
import {
  anything,
  boolean,
  integer,
  isObject,
  list,
  map,
  nullable,
  number,
  object,
  oneOf,
  type Schema,
  tagged,
  text,
  textOr,
} from '../../schema.ts';

const toolName = text({ charsMin: 1, charsMax: TOOL_NAME_CHARS_MAX, pattern: /^[a-zA-Z0-9_-]+$/ });

/** The message for an unknown kind. It never quotes the kind, which may be of any length. */
const only = (kinds: string) => ({ unknownTag: () => `Input should be ${kinds}` });

const textPart = object({ text: text() });
const parts = textOr(
  {},
  list(
    tagged(
      'type',
      {
        input_text: textPart,
        output_text: textPart,
        text: textPart,
        refusal: object({ refusal: text() }),
        input_image: object({}, { image_url: anything, detail: anything, file_id: anything }),
        input_file: object(
          {},
          {
            file_data: nullable(text()),
            file_url: nullable(text()),
            filename: nullable(text()),
            file_id: anything,
          },
        ),
        encrypted_content: object({ encrypted_content: text() }),
      },
      only(
        "'input_text', 'output_text', 'text', 'refusal', 'input_image', 'input_file' or 'encrypted_content'",
      ),
    ),
  ),
);

const functionTool = object(
  { name: toolName },
  {
    description: nullable(text()),
    parameters: nullable(map(anything)),
    strict: nullable(boolean),
  },
);
const customTool = object(
  { name: toolName },
  {
    description: nullable(text()),
    format: nullable(
      tagged(
        'type',
        { text: object({}), grammar: object({ definition: text() }, { syntax: nullable(text()) }) },
        only("'text' or 'grammar'"),
      ),
    ),
  },
);
const noNamespace: Schema = {
  json: { not: {} },
  check: () => ({ path: 'type', kind: 'invalid', message: 'A namespace has no namespaces' }),
};
/** Tools of other types are run by a vendor. */
const memberTool = tagged('type', {
  function: functionTool,
  custom: customTool,
  namespace: noNamespace,
});
const tool = tagged('type', {
  function: functionTool,
  custom: customTool,
  namespace: object(
    { name: calledName, tools: list(memberTool) },
    { description: nullable(text()) },
  ),
});

const message = object(
  { role: oneOf('user', 'assistant', 'system', 'developer') },
  {
    content: nullable(parts),
  },
);

/** Without what it stands for, a model would not know what was said before. */
const unreadable: Schema = {
  json: { not: {} },
  check: () => ({
    path: 'type',
    kind: 'invalid',
    message: 'Only the vendor that wrote this summary can read it',
  }),
};

const items: Readonly<Record<string, Schema>> = {
  message,
  function_call: object(
    { call_id: callId, name: calledName, arguments: text() },
    { namespace: nullable(text()) },
  ),
  function_call_output: object({ call_id: callId, output: parts }),
  custom_tool_call: object(
    { call_id: callId, name: calledName, input: text() },
    { namespace: nullable(text()) },
  ),
  custom_tool_call_output: object({ call_id: callId, output: parts }),
  reasoning: object({}, { encrypted_content: nullable(text()), summary: anything }),
  additional_tools: object({}, { tools: nullable(list(tool)) }),
  agent_message: object({ content: parts }, { author: nullable(text()) }),
  compaction: unreadable,
  context_compaction: unreadable,
  item_reference: object({ id: text({ charsMax: ID_CHARS_MAX }) }),
};

const typedItem = tagged('type', items);

/**
 * The type may be left out of a message, and of a reference that has nothing but its id. `unread`
 * are those of tools that a vendor runs and all that are unknown: they are left out, because a
 * refusal would end the conversation that has one.
 */
export function kindOfItem(item: Readonly<Record<string, unknown>>): unknown {
  const { type } = item;
  if (type != null) return Object.hasOwn(items, String(type)) ? type : 'unread';
  return isBareId(item) ? 'item_reference' : 'message';
}

function isBareId(item: Readonly<Record<string, unknown>>): boolean {
  return (
    item['id'] != null && Object.keys(item).every((name) => name === 'id' || item[name] == null)
  );
}

const item: Schema = {
  json: { anyOf: [typedItem.json, message.json] },
  check(value) {
    if (!isObject(value) || value['type'] != null) return typedItem.check(value);
    return items[String(kindOfItem(value))]?.check(value);
  },
};

const chosenTool = object(
  { type: text() },
  { name: text({ charsMax: ID_CHARS_MAX }), namespace: nullable(text()) },
);
const words = oneOf('none', 'auto', 'required');
const choiceObject = tagged('type', {
  function: object({ name: calledName }, { namespace: nullable(text()) }),
  custom: object({ name: calledName }, { namespace: nullable(text()) }),
  allowed_tools: object({ mode: oneOf('auto', 'required'), tools: list(chosenTool) }),
});
const toolChoice: Schema = {
  json: { anyOf: [words.json, choiceObject.json] },
  check: (value) => (typeof value === 'string' ? words.check(value) : choiceObject.check(value)),
};

const textFormat = tagged(
  'type',
  {
    text: object({}),
    json_object: object({}),
    json_schema: object(
      {},
      {
        name: nullable(text()),
        description: nullable(text()),
        schema: nullable(map(anything)),
        strict: nullable(boolean),
      },
    ),
  },
  only("'text', 'json_object' or 'json_schema'"),
);

const METADATA_PAIRS_MAX = 16;
const METADATA_NAME_CHARS_MAX = 64;
const metadataValues = map(text({ charsMax: 512 }));

/** Every answer repeats it, and no model reads it. */
const metadata: Schema = {
  json: { ...metadataValues.json, maxProperties: METADATA_PAIRS_MAX },
  check(value) {
    const problem = metadataValues.check(value);
    if (problem !== undefined || !isObject(value)) return problem;
    const names = Object.keys(value);
    if (names.length <= METADATA_PAIRS_MAX && names.every(isShortName)) return undefined;
    const message = 'It should have at most 16 names, each of at most 64 characters';
    return { path: '', kind: 'invalid', message };
  },
};

function isShortName(name: string): boolean {
  return name.length <= METADATA_NAME_CHARS_MAX;
}

/** Fields that cost nothing by themselves, whatever their shape. */
const PASSED_FIELDS = [
  'client_metadata',
  'frequency_penalty',
  'include',
  'max_tool_calls',
  'presence_penalty',
  'prompt_cache_options',
  'prompt_cache_retention',
  'stream_options',
  'top_logprobs',
] as const;

/** The body of `POST /v1/responses`. */
export const responsesRequestSchema: Schema = object(
  { model: modelName },
  {
    input: nullable(textOr({}, list(item))),
    instructions: nullable(text()),
    max_output_tokens: nullable(integer({ min: 1 })),
    temperature: nullable(number({ min: 0, max: 2 })),
    top_p: nullable(number({ min: 0, max: 1 })),
    stream: nullable(boolean),
    store: nullable(boolean),
    tools: nullable(list(tool)),
    tool_choice: nullable(toolChoice),
    parallel_tool_calls: nullable(boolean),
    text: nullable(object({}, { format: nullable(textFormat), verbosity: anything })),
    reasoning: nullable(object({}, { effort: nullable(text()), summary: anything })),
    previous_response_id: nullable(text()),
    prompt_cache_key: nullable(text()),
    safety_identifier: nullable(text()),
    truncation: nullable(oneOf('auto', 'disabled')),
    user: nullable(text()),
    metadata: nullable(metadata),
    ...Object.fromEntries(PASSED_FIELDS.map((name) => [name, anything])),
  },
);
