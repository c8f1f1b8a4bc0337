import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../../src/catalogue/estimate-tokens.ts';
import { chatFormat } from '../../../../src/protocol/chat/chat-format.ts';
import { chatRequestSchema } from '../../../../src/protocol/chat/requests/request-schema.ts';
import type { Format } from '../../../../src/protocol/format.ts';
import { Refusal } from '../../../../src/protocol/refusals.ts';
import { responsesRequestSchema } from '../../../../src/protocol/responses/requests/request-schema.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';
import { listNames, type Schema } from '../../../../src/protocol/schema.ts';
import { keepSealed, SEALED_BEGINNING } from '../../../../src/protocol/sealed-reasoning.ts';

const BYTES_PER_TOKEN = 3;
/** The bound of ids is a little higher. */
const LONG = 'word '.repeat(3_000);
/** As a text may take the place of a tool, what vendors say of tools may be missing. */
const LONG_TOKENS_MIN = LONG.length / BYTES_PER_TOKEN - 600;
const VALUES: readonly unknown[] = [LONG, [LONG], { a: LONG }, [{ text: LONG }]];

const PICTURE = 'https://h/a.png';
const PDF = 'data:application/pdf;base64,JVBERi0xLjQK';
const SCHEMA = { type: 'object', properties: { at: { type: 'string' } } };

const called = { name: 'look', arguments: '{"at":"x"}' };
const definition = { name: 'look', description: 'Looks', parameters: SCHEMA, strict: true };
const text = { type: 'text', text: 'Hi' };
const CHAT = {
  model: 'm',
  messages: [
    { role: 'developer', content: 'Help.' },
    { role: 'system', content: [text] },
    { role: 'user', content: 'Hi' },
    {
      role: 'user',
      content: [
        text,
        { type: 'image_url', image_url: { url: PICTURE, detail: 'low' } },
        { type: 'file', file: { file_data: PDF, filename: 'a.pdf' } },
      ],
    },
    { role: 'assistant', content: [text, { type: 'refusal', refusal: 'No' }] },
    {
      role: 'assistant',
      content: 'So',
      tool_calls: [{ type: 'function', id: 'c1', function: called }],
    },
    { role: 'tool', tool_call_id: 'c1', content: [text] },
    { role: 'assistant', content: null, function_call: called },
    { role: 'function', name: 'look', content: 'x' },
  ],
  tools: [{ type: 'function', function: definition }],
  functions: [{ ...definition, name: 'read' }],
};
const chosen = { type: 'function', function: { name: 'look' } };
const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [chosen] } };
const named = { name: 'w', description: 'A word', schema: SCHEMA, strict: true };
const CHAT_BODIES = [
  { ...CHAT, tool_choice: chosen, response_format: { type: 'text' } },
  { ...CHAT, tool_choice: allowed, response_format: { type: 'json_object' } },
  {
    ...CHAT,
    function_call: { name: 'look' },
    response_format: { type: 'json_schema', json_schema: named },
  },
];

const PARTS = [
  { type: 'input_text', text: 'Hi' },
  { type: 'input_image', image_url: PICTURE, detail: 'low' },
  { type: 'input_image', image_url: { url: PICTURE } },
  { type: 'input_file', file_data: PDF, filename: 'a.pdf' },
  { type: 'input_file', file_url: 'https://h/a.pdf' },
];
const tool = { type: 'function', name: 'look', description: 'Looks', parameters: SCHEMA };
const patch = {
  ...{ type: 'custom', name: 'patch' },
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
};
const RESPONSES = {
  ...{ model: 'm', instructions: 'Help.', reasoning: { effort: 'high', summary: 'auto' } },
  input: [
    { role: 'developer', content: 'Be brief.' },
    { type: 'message', role: 'user', id: 'msg_1', status: 'completed', content: PARTS },
    {
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'Ho', annotations: [] },
        { type: 'refusal', refusal: 'No' },
      ],
    },
    {
      ...{ type: 'reasoning', encrypted_content: `${SEALED_BEGINNING}x` },
      summary: [{ type: 'summary_text', text: 'Hm' }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c1', ...called },
    { type: 'function_call', call_id: 'c2', namespace: 'files', ...called, name: 'read' },
    { type: 'custom_tool_call', call_id: 'c3', name: 'patch', input: 'x' },
    { type: 'function_call_output', call_id: 'c1', output: PARTS },
    { type: 'function_call_output', call_id: 'c2', output: 'x' },
    { type: 'custom_tool_call_output', call_id: 'c3', output: 'Done' },
    {
      ...{ type: 'additional_tools', role: 'developer' },
      tools: [{ type: 'custom', name: 'more', format: { type: 'text' } }],
    },
    { role: 'user', content: 'Go on.' },
  ],
  tools: [tool, patch, { type: 'namespace', name: 'files', tools: [{ ...tool, name: 'read' }] }],
};
const RESPONSES_BODIES = [
  { ...RESPONSES, tool_choice: tool, text: { format: { type: 'text' }, verbosity: 'low' } },
  {
    ...RESPONSES,
    tool_choice: {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'custom', name: 'patch' }],
    },
    text: { format: { type: 'json_schema', ...named } },
  },
];

/** Tools of other types than these are never sent, nor is a thought that was not sealed. */
const DECIDES_WHAT_IS_SENT = /^(tools\.\d+\.type|input\.\d+\.type|input\.3\.encrypted_content)$/;

type Path = readonly string[];

function listObjects(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const within = Object.entries(value).flatMap(([name, field]) =>
    listObjects(field, [...path, name]),
  );
  return Array.isArray(value) ? within : [path, ...within];
}

function setAt(value: unknown, [name, ...rest]: Path, field: unknown): unknown {
  if (name === undefined) return field;
  const copy: unknown = Array.isArray(value) ? [...value] : { ...(value as object) };
  Reflect.set(copy as object, name, setAt(Reflect.get(copy as object, name), rest, field));
  return copy;
}

/** The tokens of all but the files. Undefined if the request is refused. */
function estimate(format: Format, body: unknown): number | undefined {
  try {
    const { request } = format.decodeRequest(body, () => undefined, {
      openThought: keepSealed,
    });
    const { likely, unsure, files } = estimateTokens(request, BYTES_PER_TOKEN);
    return likely + unsure - (files?.tokens ?? 0);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** The places at which a long text may stand and is not counted. */
function listFree(format: Format, names: readonly string[], body: object): readonly string[] {
  const plain = estimate(format, body) ?? Number.NaN;
  // No model reads the fields of the body itself that the format knows and does not decode.
  const objects = listObjects(body).filter(({ length }) => length > 0);
  const paths = objects
    .flatMap((path) => names.map((name) => [...path, name]))
    .filter((path) => !DECIDES_WHAT_IS_SENT.test(path.join('.')));
  return paths.flatMap((path) =>
    VALUES.flatMap((value) => {
      const tokens = estimate(format, setAt(body, path, value));
      const isCounted = tokens === undefined || tokens - plain > LONG_TOKENS_MIN;
      return isCounted ? [] : [`${path.join('.')}: ${JSON.stringify(value).slice(0, 12)}`];
    }),
  );
}

const namesOf = (schema: Schema) => [...new Set(['type', 'role', 'more', ...listNames(schema)])];

describe('a long text under a name that the format knows', () => {
  it.each(CHAT_BODIES)('is counted wherever a chat request may have it', (body) => {
    expect(listFree(chatFormat, namesOf(chatRequestSchema), body)).toEqual([]);
  });

  it.each(RESPONSES_BODIES)('is counted wherever a Responses request may have it', (body) => {
    expect(listFree(responsesFormat, namesOf(responsesRequestSchema), body)).toEqual([]);
  });
});
