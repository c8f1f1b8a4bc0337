import { describe, expect, it } from 'vitest';
import { readRequest } from '../../../../src/gateway/read-request.ts';
import { chatFormat } from '../../../../src/protocol/chat/chat-format.ts';
import { encodeChatRequest } from '../../../../src/protocol/chat/requests/encode-request.ts';
import { nativeFormat } from '../../../../src/protocol/native/native-format.ts';
import { encodeNativeRequest } from '../../../../src/protocol/native/requests/encode-request.ts';
import { encodeResponsesRequest } from '../../../../src/protocol/responses/requests/encode-request.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';
import { decodeNative } from '../upstream-requests.ts';

const ARGUMENTS = '{"note":"ä\\n\\"x\\"", "channel": 1234567890123456789}';
const called = { name: 'send', arguments: ARGUMENTS };

/** The id of the call is one that native upstreams do not take. */
const OF_CHAT = chatFormat.decodeRequest(
  {
    model: 'opus',
    messages: [
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: 'Sending.',
        tool_calls: [{ id: 'call:1', type: 'function', function: called }],
        cache_control: { type: 'ephemeral' },
      },
      { role: 'tool', tool_call_id: 'call:1', content: 'Sent' },
    ],
  },
  () => undefined,
).request;
const OF_RESPONSES = responsesFormat.decodeRequest(
  {
    model: 'opus',
    input: [
      { role: 'user', content: 'Go' },
      { type: 'function_call', call_id: 'call:1', ...called },
      { type: 'function_call_output', call_id: 'call:1', output: 'Sent' },
    ],
  },
  () => undefined,
).request;
const TYPES = { type: 'object', properties: { input: { maximum: Number.MAX_VALUE } } };
const ofNative = (text: string, more: object = {}) =>
  readRequest(
    Buffer.from(
      JSON.stringify({
        ...{ model: 'opus', max_tokens: 9, ...more },
        tools: [{ name: 'send', input_schema: TYPES }],
        messages: [
          { role: 'user', content: 'Go' },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'Sending.', cache_control: { type: 'ephemeral' } },
              { type: 'tool_use', id: 'call_1', name: 'send', input: 'HERE' },
            ],
          },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'Sent' }],
          },
        ],
      }).replace('"HERE"', text),
    ),
    nativeFormat,
    (name) => (name === 'llm-version' ? '2023-06-01' : undefined),
    true,
  ).readWhole();

describe.each([
  ['chat', OF_CHAT],
  ['native', ofNative(ARGUMENTS)],
  ['native', ofNative(ARGUMENTS, { metadata: { user_id: 'x'.repeat(200) }, x: 'x'.repeat(9_000) })],
  ['Responses', OF_RESPONSES],
])('a number beyond what JavaScript holds, in a call that a %s client tells of', (_, request) => {
  const call = { request, outputTokensMax: 9, isStream: false };

  it.each([
    ['chat', encodeChatRequest(call, 'sold', 'max_tokens')],
    ['Responses', encodeResponsesRequest(call, 'sold')],
  ])('comes to a %s upstream as it is', (__, written) => {
    expect(written).toContain(`"arguments":${JSON.stringify(ARGUMENTS)}`);
  });

  it('comes to a native upstream as it is, with all else of the request', () => {
    const written = encodeNativeRequest(call, 'sold');
    expect(written).toContain(`"input":${ARGUMENTS}`);
    const { messages } = decodeNative(JSON.parse(written));
    expect(messages[1]?.content.at(-1)).toMatchObject({
      ...{ type: 'tool_use', id: 'call_1', name: 'send', input: JSON.parse(ARGUMENTS) },
    });
    const plain = JSON.parse(
      JSON.stringify(request.messages).replaceAll('call:1', 'call_1'),
    ) as unknown;
    expect(JSON.parse(JSON.stringify(messages))).toEqual(plain);
  });
});

it('an input that names a field twice is the one that counts', () => {
  const request = ofNative('{"a":1},"input":{"channel": 1234567890123456789}');
  const call = { request, outputTokensMax: 9, isStream: false };
  expect(encodeNativeRequest(call, 'sold')).toContain('"input":{"channel":1234567890123456800}');
});

it('arguments that are no JSON object are wrapped, whatever numbers they have', () => {
  const args = '[1234567890123456789';
  const { request } = responsesFormat.decodeRequest(
    {
      model: 'opus',
      input: [
        { role: 'user', content: 'Go' },
        { type: 'function_call', call_id: 'c', name: 'send', arguments: args },
      ],
    },
    () => undefined,
  );
  const call = { request, outputTokensMax: 9, isStream: false };
  const wrapped = JSON.stringify({ _raw: args });
  expect(encodeNativeRequest(call, 'sold')).toContain(`"input":${wrapped}`);
  expect(encodeChatRequest(call, 'sold', 'max_tokens')).toContain(JSON.stringify(wrapped));
});
