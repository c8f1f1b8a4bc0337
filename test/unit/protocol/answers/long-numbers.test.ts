import { expect, it } from 'vitest';
import { decodeChatAnswer } from '../../../../src/protocol/chat/answers/decode-answer.ts';
import { chatFormat } from '../../../../src/protocol/chat/chat-format.ts';
import { decodeNativeAnswer } from '../../../../src/protocol/native/answers/decode-answer.ts';
import { nativeFormat } from '../../../../src/protocol/native/native-format.ts';
import { decodeResponse } from '../../../../src/protocol/responses/answers/decode-stream.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';
import { collectAnswer } from '../../../contract/read-meaning.ts';

const CONTEXT = { createdSeconds: 1, wantsStreamUsage: true };
const ARGUMENTS = '{"channel_id": 1234567890123456789}';
const call = { name: 'send', arguments: ARGUMENTS };
const OF_CHAT = decodeChatAnswer(
  JSON.stringify({
    ...{ id: 'chatcmpl-1', model: 'gpt' },
    choices: [
      {
        ...{ index: 0, finish_reason: 'tool_calls' },
        message: {
          ...{ role: 'assistant', content: null },
          tool_calls: [{ id: 'call_1', type: 'function', function: call }],
        },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  }),
);
const OF_RESPONSES = decodeResponse(
  {
    ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'gpt' },
    output: [
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', status: 'completed', ...call },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
  undefined,
);
const OF_NATIVE = decodeNativeAnswer(
  JSON.stringify({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' },
    content: [
      { type: 'text', text: '"input": 1' },
      { type: 'tool_use', id: 'call_0', name: 'look', input: {} },
      { type: 'tool_use', id: 'call_1', name: 'send', input: { raw: 'HERE' } },
    ],
    ...{ stop_reason: 'tool_use', usage: { input_tokens: 1, output_tokens: 1 } },
  }).replace('{"raw":"HERE"}', ARGUMENTS),
);

it.each([
  ['native', 'chat', OF_NATIVE, chatFormat],
  ['native', 'Responses', OF_NATIVE, responsesFormat],
  ['chat', 'chat', OF_CHAT, chatFormat],
  ['chat', 'Responses', OF_CHAT, responsesFormat],
  ['Responses', 'chat', OF_RESPONSES, chatFormat],
  ['Responses', 'Responses', OF_RESPONSES, responsesFormat],
])(
  'a number beyond what JavaScript holds comes from %s to %s as it is',
  (_, __, events, format) => {
    const written = format.encodeAnswer(collectAnswer(events), CONTEXT);
    expect(written).toContain(`"arguments":${JSON.stringify(ARGUMENTS)}`);
  },
);

it('native clients get the same number in an input that has only fields of their format', () => {
  const written = nativeFormat.encodeAnswer(collectAnswer(OF_CHAT), CONTEXT);
  expect(written).toContain(`"input":${ARGUMENTS}`);
  expect(JSON.parse(written).content).toEqual([
    { type: 'tool_use', id: 'call_1', name: 'send', input: JSON.parse(ARGUMENTS) },
  ]);
});
