import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../src/protocol/chat/chat-format.ts';
import { embeddingsFormat } from '../../../../src/protocol/embeddings/embeddings-format.ts';
import { ID_CHARS_MAX } from '../../../../src/protocol/fields/call-texts.ts';
import type { RouteFormat } from '../../../../src/protocol/format.ts';
import { nativeFormat } from '../../../../src/protocol/native/native-format.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';

const FORMATS = [chatFormat, responsesFormat];
const TOO_LONG = `String should have at most ${ID_CHARS_MAX} characters`;

const chatCall = (id: string, name: string) => ({
  role: 'assistant',
  tool_calls: [{ type: 'function', id, function: { name, arguments: '{}' } }],
});
const chatAnswer = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'A' });
const chatAllowed = (name: string) => ({
  type: 'allowed_tools',
  allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name } }] },
});
const call = (id: string, name: string) => ({
  ...{ type: 'function_call', call_id: id, name },
  arguments: '{}',
});
const custom = (id: string, name: string) => ({
  ...{ type: 'custom_tool_call', call_id: id, name },
  input: 'A',
});
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'A' });
const hi = { role: 'user', content: 'Hi' };

const PLACES: [string, (text: string) => object][] = [
  ['call of chat', (id) => ({ messages: [hi, chatCall(id, 'a')] })],
  ['name in a call of chat', (name) => ({ messages: [hi, chatCall('a', name)] })],
  ['output of chat', (id) => ({ messages: [hi, chatCall(id, 'a'), chatAnswer(id)] })],
  ['name that chat allows', (name) => ({ messages: [hi], tool_choice: chatAllowed(name) })],
  ['call', (id) => ({ input: [hi, call(id, 'a')] })],
  ['name in a call', (name) => ({ input: [hi, call('a', name)] })],
  ['call of a custom tool', (id) => ({ input: [hi, custom(id, 'a')] })],
  ['name of a custom tool', (name) => ({ input: [hi, custom('a', name)] })],
  ['output', (id) => ({ input: [hi, call(id, 'a'), output(id)] })],
  [
    'name of a namespace',
    (name) => ({ input: [hi], tools: [{ type: 'namespace', name, tools: [] }] }),
  ],
  [
    'name that is allowed',
    (name) => ({
      input: [hi],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name }] },
    }),
  ],
];

function decode(fields: object): void {
  const [chat, responses] = FORMATS;
  const format = 'messages' in fields ? chat : responses;
  format?.decodeRequest({ model: 'm', ...fields }, () => undefined);
}

it.each(PLACES)('a text that maps are keyed by has a longest length: %s', (_, fieldsOf) => {
  expect(() => decode(fieldsOf('a'.repeat(ID_CHARS_MAX)))).not.toThrow();
  expect(() => decode(fieldsOf('a'.repeat(ID_CHARS_MAX + 1)))).toThrow(TOO_LONG);
});

it('a reference of any length is refused before it is looked for', () => {
  const refer = (id: string) => () => decode({ input: [{ type: 'item_reference', id }] });
  const notFound = expect.objectContaining({ refusal: 'item_not_found' });
  expect(refer('a'.repeat(ID_CHARS_MAX))).toThrow(notFound);
  expect(refer('a'.repeat(ID_CHARS_MAX + 1))).toThrow(TOO_LONG);
});

describe('the name of a model', () => {
  it.each<[RouteFormat, object]>([
    [nativeFormat, { max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }],
    [chatFormat, { messages: [{ role: 'user', content: 'Hi' }] }],
    [responsesFormat, { input: 'Hi' }],
    [embeddingsFormat, { input: 'Hi' }],
  ])('is short in the $0.name format, because a refusal repeats it', (format, fields) => {
    const decode = (model: string) =>
      format.decodeRequest({ model, ...fields }, (header) =>
        header === 'llm-version' ? '2023-06-01' : undefined,
      );
    expect(decode('m'.repeat(256)).request.model).toHaveLength(256);
    expect(() => decode('m'.repeat(257))).toThrow(expect.objectContaining({ param: 'model' }));
  });
});
