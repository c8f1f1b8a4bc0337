import { expect, it } from 'vitest';
import { mendInput } from '../../../../../src/protocol/responses/requests/mend-input.ts';
import { responsesFormat } from '../../../../../src/protocol/responses/responses-format.ts';

const USER = { role: 'user', content: 'Hi' };
const CALL = { type: 'function_call', call_id: 'c', name: 'spawn', arguments: '{}' };
const encrypted = (text: string) => ({ type: 'encrypted_content', encrypted_content: text });
const text = (said: string) => ({ type: 'input_text', text: said });
const fromRoot = (...content: readonly object[]) => ({
  ...{ type: 'agent_message', author: '/lead', recipient: '/lead/a', content },
});

const messagesOf = (input: readonly object[]) =>
  responsesFormat.decodeRequest({ model: 'haiku', input }, () => undefined).request.messages;

const ENCRYPTED_NOTE = 'The text is encrypted and cannot be read here.';

it('what an agent says to another one is said by the user', () => {
  const input = [USER, fromRoot(text('Look at'), encrypted('a.txt'), encrypted('gAAAAx'))];
  const said = ['Agent message from /lead:', 'Look at', 'a.txt', ENCRYPTED_NOTE];
  expect(messagesOf(input)).toEqual([
    { role: 'user', content: ['Hi', ...said].map((each) => ({ type: 'text', text: each })) },
  ]);
  expect(mendInput(input, undefined)).toEqual([
    USER,
    { type: 'message', role: 'user', content: said.map(text) },
  ]);
});

it('an encrypted part of an output is its text, which a model here wrote', () => {
  const output = { type: 'function_call_output', call_id: 'c', output: [encrypted('Done')] };
  const input = [USER, CALL, output];
  expect(messagesOf(input).at(-1)?.content).toMatchObject([
    { type: 'tool_result', content: [{ type: 'text', text: 'Done' }] },
  ]);
  expect(mendInput(input, undefined)).toEqual([USER, CALL, { ...output, output: [text('Done')] }]);
});

it('items that nobody knows are left out', () => {
  const input = [{ type: 'of_tomorrow', content: 'x' }, USER, { type: 'agent_reasoning' }];
  expect(messagesOf(input)).toEqual([USER]);
  expect(mendInput(input, undefined)).toEqual([USER]);
});
