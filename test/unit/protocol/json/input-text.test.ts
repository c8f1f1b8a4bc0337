import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../src/protocol/chat/chat-format.ts';
import { encodeChatRequest } from '../../../../src/protocol/chat/requests/encode-request.ts';
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

describe.each([
  ['chat', OF_CHAT],
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
