import { expect, it } from 'vitest';
import { relayChatAnswer } from '../../../../src/protocol/chat/answers/relay-answer.ts';
import { relayNativeAnswer } from '../../../../src/protocol/native/answers/decode-answer.ts';
import { relayResponsesAnswer } from '../../../../src/protocol/responses/answers/relay-answer.ts';

const CONTEXT = { createdSeconds: 1_800_000_000, wantsStreamUsage: false };
const TERMS = { model: 'm', context: CONTEXT, seal: undefined };
const USAGE = { input_tokens: 9, output_tokens: 4 };
const toBody = (answer: object) => Buffer.from(JSON.stringify(answer));

const chatOf = (more: object) => {
  const message = { role: 'assistant', content: 'Hi', ...more };
  const usage = { prompt_tokens: 9, completion_tokens: 4 };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  return relayChatAnswer(toBody({ choices, usage }), 'm', CONTEXT);
};
const nativeOf = (...blocks: readonly object[]) => {
  const content = [...blocks, { type: 'text', text: 'Hi' }];
  const answer = { id: 'msg_1', model: 'v', content, stop_reason: 'end_turn', usage: USAGE };
  return relayNativeAnswer(toBody(answer), 'm');
};
const responseOf = (...items: readonly object[]) => {
  const said = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hi' }],
  };
  const answer = { id: 'resp_1', model: 'v', status: 'completed', output: [...items, said] };
  return relayResponsesAnswer(toBody({ ...answer, usage: USAGE }), TERMS);
};
const summary = [{ type: 'summary_text', text: 'Hm' }];

it.each([
  ['chat', chatOf({ reasoning_content: 'Hm' }), chatOf({})],
  ['native', nativeOf({ type: 'thinking', thinking: 'Hm', signature: 'c2ln' }), nativeOf()],
  ['native', nativeOf({ type: 'redacted_thinking', data: 'c2ln' }), nativeOf()],
  ['Responses', responseOf({ type: 'reasoning', id: 'rs_1', summary }), responseOf()],
])('a whole %s answer that is passed on shows that its model thought', (_, thought, plain) => {
  expect(thought.closing).toBeDefined();
  expect(thought.events.map(({ type }) => type)).toEqual(['start', 'block_start', 'finish']);
  expect(plain.events.map(({ type }) => type)).toEqual(['start', 'finish']);
});
