import { modelName } from '../../fields/call-texts.ts';
import { isHttpUrl } from '../../fields/is-http-url.ts';
import { orUnset } from '../../fields/or-unset.ts';
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

const MESSAGES_MAX = 100_000;
export const THINKING_TOKENS_MIN = 1_024;
/** V8 hashes long strings by their length alone, so sets of such ids would be slow. */
const ID_CHARS_MAX = 256;
const TOOL_NAME_CHARS_MAX = 200;
const TITLE_CHARS_MAX = 500;

const ID = /^[a-zA-Z0-9_-]+$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

type Fields = Readonly<Record<string, Schema>>;

/** Clients may send `null` for an optional field. */
function objectOf(required: Fields, optional: Fields = {}): Schema {
  const nullables = Object.entries(optional).map(([name, schema]) => [name, nullable(schema)]);
  return object(required, Object.fromEntries(nullables));
}

/** Clients know some problems by a path that includes the kind of the value. */
function named(name: string, schema: Schema): Schema {
  return {
    json: schema.json,
    check(value) {
      const problem = schema.check(value);
      if (problem === undefined) return undefined;
      return { ...problem, path: problem.path === '' ? name : `${name}.${problem.path}` };
    },
  };
}

const id = text({ charsMax: ID_CHARS_MAX, pattern: ID });

const cacheControl = objectOf({ type: oneOf('ephemeral') }, { ttl: oneOf('5m', '1h') });
const cached = { cache_control: cacheControl };

const textBlock = objectOf({ text: text() }, { citations: list(anything), ...cached });

const httpUrl: Schema = {
  json: { type: 'string', format: 'uri' },
  check: (value) =>
    typeof value === 'string' && isHttpUrl(value)
      ? undefined
      : { path: '', kind: 'invalid', message: 'Input should be an http(s) URL' },
};

const urlSource = objectOf({ url: httpUrl });
const fileSource = objectOf({ file_id: text() });

const imageBlock = named(
  'image',
  objectOf(
    {
      source: tagged('type', {
        base64: named(
          'base64',
          objectOf({
            media_type: oneOf('image/jpeg', 'image/png', 'image/gif', 'image/webp'),
            data: text(),
          }),
        ),
        url: urlSource,
        file: fileSource,
      }),
    },
    cached,
  ),
);

const documentBlock = named(
  'document',
  objectOf(
    {
      source: tagged('type', {
        base64: named('base64', objectOf({ media_type: oneOf('application/pdf'), data: text() })),
        text: objectOf({ media_type: oneOf('text/plain'), data: text() }),
        content: objectOf({ content: textOr({}, list(tagged('type', { image: imageBlock }))) }),
        url: urlSource,
        file: fileSource,
      }),
    },
    {
      title: text({ charsMax: TITLE_CHARS_MAX }),
      context: text(),
      citations: objectOf({}, { enabled: boolean }),
      ...cached,
    },
  ),
);

const searchResultBlock = objectOf(
  { content: list(textBlock), source: text(), title: text() },
  { citations: objectOf({}, { enabled: boolean }), ...cached },
);

const toolResultBlock = objectOf(
  { tool_use_id: id },
  {
    content: textOr(
      {},
      list(
        tagged('type', {
          text: textBlock,
          image: imageBlock,
          document: documentBlock,
          search_result: searchResultBlock,
        }),
      ),
    ),
    is_error: boolean,
    ...cached,
  },
);

/** Unknown kinds belong to newer models and tools: an upstream can judge them better. */
const contentBlock = tagged('type', {
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  search_result: searchResultBlock,
  thinking: objectOf({ thinking: text() }, { signature: text() }),
  redacted_thinking: objectOf({ data: text() }),
  tool_use: objectOf(
    {
      id,
      name: text({ charsMin: 1, charsMax: TOOL_NAME_CHARS_MAX }),
      input: map(anything),
    },
    cached,
  ),
  tool_result: toolResultBlock,
});

const message = objectOf({
  role: oneOf('user', 'assistant', 'system'),
  content: textOr({}, list(contentBlock)),
});

const clientTool = objectOf(
  {
    name: text({ pattern: TOOL_NAME }),
    // The rest of the schema is not checked: clients use many dialects.
    input_schema: objectOf({ type: oneOf('object') }),
  },
  { description: text(), type: oneOf('custom'), ...cached },
);

/** A set of tools has no name: the vendor knows those of its tools. */
const vendorTool = object(
  { type: text() },
  { name: text({ pattern: TOOL_NAME }), cache_control: nullable(cacheControl) },
);

const isVendorTool = (value: unknown): boolean =>
  isObject(value) && typeof value['type'] === 'string' && value['type'] !== 'custom';

/** A vendor's tool has a dated type of its own, and often no schema. */
const tool: Schema = {
  json: { anyOf: [clientTool.json, vendorTool.json] },
  check: (value) => (isVendorTool(value) ? vendorTool : clientTool).check(value),
};

const parallel = { disable_parallel_tool_use: boolean };

const toolChoice = tagged(
  'type',
  {
    auto: objectOf({}, parallel),
    any: objectOf({}, parallel),
    tool: objectOf({ name: text({ pattern: TOOL_NAME }) }, parallel),
    none: objectOf({}),
  },
  { unknownTag: () => "Input should be 'auto', 'any', 'tool' or 'none'" },
);

const thinking = tagged('type', {
  enabled: named(
    'enabled',
    objectOf({ budget_tokens: integer({ min: THINKING_TOKENS_MIN }) }, { display: text() }),
  ),
  disabled: objectOf({}),
  adaptive: named('adaptive', objectOf({}, { display: text() })),
  between_tools: objectOf({}),
});

const outputFormat = tagged('type', { json_schema: objectOf({ schema: map(anything) }) });
const outputConfig = objectOf({}, { effort: text(), format: outputFormat });

const systemBlocks = list(
  tagged('type', { text: textBlock }, { unknownTag: () => "Input should be 'text'" }),
);

/** Fields that cost nothing by themselves, whatever their shape. */
const PASSED_FIELDS = ['context_management', 'diagnostics', 'fallback_credit_token'] as const;

/** The body of `POST /v1/messages`. */
export const nativeRequestSchema = objectOf(
  {
    model: modelName,
    messages: list(message, { itemsMax: MESSAGES_MAX }),
    max_tokens: integer({ min: 1 }),
  },
  {
    system: textOr({}, systemBlocks),
    stream: boolean,
    temperature: number({ min: 0, max: 1 }),
    top_p: orUnset(number({ min: 0, max: 1 })),
    top_k: orUnset(integer({ min: 0 })),
    stop_sequences: list(text()),
    tools: list(tool),
    tool_choice: toolChoice,
    thinking,
    metadata: objectOf({}, { user_id: text() }),
    cache_control: cacheControl,
    output_config: outputConfig,
    output_format: outputFormat,
    ...Object.fromEntries(PASSED_FIELDS.map((name) => [name, anything])),
  },
);
