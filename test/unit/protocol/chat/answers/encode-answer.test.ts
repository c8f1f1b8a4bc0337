import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';
import type {
  InferenceAnswer,
  OutputBlock,
  StopReason,
} from '../../../../../src/protocol/inference.ts';

const answer: InferenceAnswer = {
  id: 'msg_0123',
  model: 'llm-opus-4.7',
  content: [{ type: 'text', text: 'Hello' }],
  stopReason: 'end_turn',
  stopSequence: undefined,
  usage: {
    input: 1,
    cacheRead: 2,
    cacheWrite5m: 3,
    cacheWrite1h: 4,
    output: 50,
    thinking: 6,
    searches: 0,
  },
};

function encode(fields: Partial<InferenceAnswer>): unknown {
  const context = { createdSeconds: 1_700_000_000, wantsStreamUsage: false };
  return JSON.parse(chatFormat.encodeAnswer({ ...answer, ...fields }, context));
}

describe('a chat completion', () => {
  it('has every field that clients read', () => {
    expect(encode({})).toEqual({
      id: 'chatcmpl-0123',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'llm-opus-4.7',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 50,
        total_tokens: 60,
        prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 7 },
        completion_tokens_details: { reasoning_tokens: 6 },
      },
      system_fingerprint: null,
      service_tier: null,
    });
  });

  const toolUse: OutputBlock = { type: 'tool_use', id: 'toolu_1', name: 'find', input: { a: 1 } };
  const toolCall = {
    id: 'toolu_1',
    type: 'function',
    function: { name: 'find', arguments: '{"a":1}' },
  };
  const thinking: OutputBlock = { type: 'thinking', thinking: 'Hm.', signature: 's' };

  it.each<[string, readonly OutputBlock[], object]>([
    ['nothing', [], { content: '' }],
    [
      'texts',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      { content: 'ab' },
    ],
    ['a call', [toolUse], { content: null, tool_calls: [toolCall] }],
    [
      'text and calls',
      [{ type: 'text', text: 'a' }, toolUse, { ...toolUse, id: 'toolu_2', input: {} }],
      {
        content: 'a',
        tool_calls: [
          toolCall,
          { ...toolCall, id: 'toolu_2', function: { name: 'find', arguments: '{}' } },
        ],
      },
    ],
    [
      'thoughts',
      [thinking, { type: 'text', text: 'a' }],
      { content: 'a', reasoning_content: 'Hm.' },
    ],
    ['redacted thoughts', [{ type: 'redacted_thinking', data: 'x' }], { content: '' }],
  ])('says in one message what the blocks say [%s]', (_name, content, message) => {
    expect(encode({ content })).toMatchObject({
      choices: [{ message: { role: 'assistant', refusal: null, ...message } }],
    });
  });

  it('names neither calls nor thoughts where there are none', () => {
    const encoded = JSON.stringify(encode({}));
    expect(encoded).not.toContain('tool_calls');
    expect(encoded).not.toContain('reasoning_content');
  });

  it.each<[StopReason, string]>([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['tool_use', 'tool_calls'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
  ])('ends for the reason that the model had [%s]', (stopReason, finishReason) => {
    expect(encode({ stopReason })).toMatchObject({ choices: [{ finish_reason: finishReason }] });
  });
});
