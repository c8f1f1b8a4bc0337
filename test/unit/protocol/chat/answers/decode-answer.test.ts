import { describe, expect, it } from 'vitest';
import { decodeChatAnswer } from '../../../../../src/protocol/chat/answers/decode-answer.ts';
import { Refusal } from '../../../../../src/protocol/refusals.ts';
import { collectAnswer } from '../../../../contract/read-meaning.ts';

const answer = (message: unknown, more = {}) =>
  JSON.stringify({
    id: 'chatcmpl-1',
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    ...more,
  });
const collect = (body: string) => collectAnswer(decodeChatAnswer(body));
const call = (id: string | undefined, name: string, json: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: json },
});

describe('the decoder of chat answers', () => {
  it('reads thoughts, text, a refusal and calls, in this order', () => {
    const message = {
      role: 'assistant',
      tool_calls: [call('call_1', 'f', '{"a":1}'), call('call_2', 'g', '')],
      content: [{ type: 'text', text: 'Hi' }, { type: 'text', text: '!' }, { type: 'other' }],
      refusal: ' No.',
      reasoning_content: 'Hm.',
    };
    const usage = { prompt_tokens: 7, completion_tokens: 5 };
    expect(collect(answer(message, { usage }))).toMatchObject({
      id: 'msg_1',
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Hi!' },
        { type: 'text', isRefusal: true, text: ' No.' },
        { type: 'tool_use', id: 'call_1', name: 'f', input: { a: 1 } },
        { type: 'tool_use', id: 'call_2', name: 'g', input: {} },
      ],
      stopReason: 'refusal',
      usage: { input: 7, output: 5 },
    });
  });

  it('reads thoughts in a list of parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }, { type: 'reference' }] },
      { type: 'thinking', thinking: '.' },
      { type: 'text', text: 'Hi' },
    ];
    expect(collect(answer({ role: 'assistant', content })).content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it('keeps calls apart that have no id', () => {
    const message = { tool_calls: [call(undefined, 'f', '{}'), call(undefined, 'f', '{"a":1}')] };
    expect(collect(answer(message)).content).toEqual([
      { type: 'tool_use', id: 'call_msg_1_0', name: 'f', input: {} },
      { type: 'tool_use', id: 'call_msg_1_1', name: 'f', input: { a: 1 } },
    ]);
  });

  it('keeps calls apart that have the same id', () => {
    const message = { tool_calls: [call('call_0', 'f', '{"a":1}'), call('call_0', 'g', '{}')] };
    expect(collect(answer(message)).content).toMatchObject([
      { id: 'call_0', name: 'f', input: { a: 1 } },
      { id: 'call_0', name: 'g', input: {} },
    ]);
  });

  it('reads an input that is an object', () => {
    const message = { tool_calls: [call('call_1', 'f', { a: [1] }), call('call_2', 'g', {})] };
    expect(collect(answer(message)).content).toMatchObject([
      { name: 'f', input: { a: [1] } },
      { name: 'g', input: {} },
    ]);
  });

  it('says that nobody reported the usage', () => {
    expect(decodeChatAnswer(answer({ content: 'Hi' })).at(-1)).toMatchObject({ usage: undefined });
  });

  it('reads a failure in words of its own', () => {
    const body = { object: 'error', message: 'x', type: 'BadRequestError', code: 400 };
    expect(() => decodeChatAnswer(JSON.stringify(body))).toThrow(
      expect.objectContaining({ refusal: 'invalid_request', message: 'x' }),
    );
  });

  it('refuses what is no answer', () => {
    const bodies = [
      '',
      '<html>',
      '[]',
      '{}',
      answer({}, { choices: [] }),
      answer({}, { error: 'x' }),
      answer({}, { choices: [{ message: { content: 'Hi' }, finish_reason: 'abort' }] }),
    ];
    for (const body of bodies) expect(() => decodeChatAnswer(body), body).toThrow(Refusal);
    const nested = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
    expect(() => decodeChatAnswer(nested)).toThrow(Refusal);
  });
});
