import { calledName, callId, modelName } from '../../fields/call-texts.ts';
import { TOOL_NAME_CHARS_MAX } from '../../fields/fit-tool-name.ts';
import { orUnset } from '../../fields/or-unset.ts';
import {
  anything,
  boolean,
  integer,
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

const STOP_SEQUENCES_MAX = 64;

const toolName = text({ charsMin: 1, charsMax: TOOL_NAME_CHARS_MAX, pattern: /^[a-zA-Z0-9_-]+$/ });

/** The message for an unknown kind. It never quotes the kind, which may be of any length. */
const only = (kinds: string) => ({ unknownTag: () => `Input should be ${kinds}` });

const textPart = object({ text: text() });
const imagePart = object({ image_url: object({ url: text() }) });
const filePart = object({
  file: object({}, { file_data: nullable(text()), filename: nullable(text()) }),
});
const refusalPart = object({}, { refusal: nullable(text()) });

const textParts = textOr({}, list(tagged('type', { text: textPart }, only("'text'"))));
const userParts = textOr(
  {},
  list(
    tagged(
      'type',
      { text: textPart, image_url: imagePart, file: filePart },
      only("'text', 'image_url' or 'file'"),
    ),
  ),
);
const assistantParts = textOr(
  {},
  list(tagged('type', { text: textPart, refusal: refusalPart }, only("'text' or 'refusal'"))),
);

const functionCall = object({ name: calledName, arguments: text() });
const toolCall = tagged(
  'type',
  { function: object({ id: callId, function: functionCall }) },
  only("'function'"),
);

const notKept: Schema = {
  json: { type: 'null' },
  check: (value) =>
    value === null
      ? undefined
      : {
          path: '',
          kind: 'invalid',
          message: 'Input should be null: nothing that was spoken is kept',
        },
};

const instructions = object({ content: textParts });
const message = tagged(
  'role',
  {
    developer: instructions,
    system: instructions,
    user: object({ content: userParts }),
    assistant: object(
      {},
      {
        content: nullable(assistantParts),
        tool_calls: nullable(list(toolCall)),
        function_call: nullable(functionCall),
        audio: notKept,
      },
    ),
    tool: object({ tool_call_id: callId, content: userParts }),
    function: object({ name: calledName, content: nullable(text()) }),
  },
  only("'developer', 'system', 'user', 'assistant', 'tool' or 'function'"),
);

const functionDefinition = object(
  { name: toolName },
  {
    description: nullable(text()),
    parameters: nullable(map(anything)),
    strict: nullable(boolean),
  },
);

const namedFunction = object({ function: object({ name: calledName }) });
const toolChoice = wordOr(
  ['none', 'auto', 'required'],
  tagged(
    'type',
    {
      function: namedFunction,
      allowed_tools: object({
        allowed_tools: object({
          mode: oneOf('auto', 'required'),
          tools: list(tagged('type', { function: namedFunction }, only("'function'"))),
        }),
      }),
    },
    only("'function' or 'allowed_tools'"),
  ),
);

const responseFormat = tagged(
  'type',
  {
    text: object({}),
    json_object: object({}),
    json_schema: object({
      json_schema: object(
        { name: text() },
        {
          description: nullable(text()),
          schema: nullable(map(anything)),
          strict: nullable(boolean),
        },
      ),
    }),
  },
  only("'text', 'json_object' or 'json_schema'"),
);

/** Allows one of a few words, or whatever `schema` allows. */
function wordOr(words: readonly string[], schema: Schema): Schema {
  const word = oneOf(...words);
  return {
    json: { anyOf: [word.json, schema.json] },
    check: (value) => (typeof value === 'string' ? word.check(value) : schema.check(value)),
  };
}

/**
 * Fields that only an upstream of the chat format reads. They cost nothing by themselves, whatever
 * their shape.
 */
const PASSED_FIELDS = [
  'cache_control',
  'chat_template_kwargs',
  'frequency_penalty',
  'include_reasoning',
  'logit_bias',
  'logprobs',
  'metadata',
  'min_p',
  'min_tokens',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'reasoning_effort',
  'repetition_penalty',
  'seed',
  'top_a',
  'top_k',
  'top_logprobs',
  'transforms',
  'usage',
  'verbosity',
] as const;

/** The body of `POST /v1/chat/completions`. */
export const chatRequestSchema: Schema = object(
  {
    model: modelName,
    messages: list(message, { itemsMin: 1 }),
  },
  {
    max_completion_tokens: nullable(orUnset(integer({ min: 1 }))),
    max_tokens: nullable(orUnset(integer({ min: 1 }))),
    temperature: nullable(number({ min: 0, max: 2 })),
    top_p: nullable(number({ min: 0, max: 1 })),
    stop: nullable(textOr({}, list(text(), { itemsMax: STOP_SEQUENCES_MAX }))),
    stream: nullable(boolean),
    stream_options: nullable(
      object({}, { include_usage: nullable(boolean), include_obfuscation: nullable(boolean) }),
    ),
    tools: nullable(
      list(
        tagged('type', { function: object({ function: functionDefinition }) }, only("'function'")),
      ),
    ),
    tool_choice: nullable(toolChoice),
    parallel_tool_calls: nullable(boolean),
    functions: nullable(list(functionDefinition)),
    function_call: nullable(wordOr(['none', 'auto'], object({ name: calledName }))),
    response_format: nullable(responseFormat),
    user: nullable(text()),
    safety_identifier: nullable(text()),
    ...Object.fromEntries(PASSED_FIELDS.map((name) => [name, anything])),
  },
);
