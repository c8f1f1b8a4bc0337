import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';
import type { InferenceEvent } from '../../../../../src/protocol/inference.ts';
import { Refusal } from '../../../../../src/protocol/refusals.ts';

const usage = {
  input: 1,
  cacheRead: 2,
  cacheWrite5m: 3,
  cacheWrite1h: 4,
  output: 5,
  thinking: 0,
  searches: 0,
};
const start: InferenceEvent = { type: 'start', id: 'msg_01', model: 'llm-opus-4.7', usage };
const finish: InferenceEvent = {
  type: 'finish',
  stopReason: 'end_turn',
  stopSequence: undefined,
  usage,
};
const openText: InferenceEvent = { type: 'block_start', index: 0, block: { type: 'text' } };
const openTool = (index: number): InferenceEvent => ({
  type: 'block_start',
  index,
  block: { type: 'tool_use', id: `toolu_${index}`, name: 'find' },
});
const giveInput = (index: number, json: string): InferenceEvent => ({
  type: 'delta',
  index,
  delta: { type: 'input_json', json },
});

function createEncoder(wantsStreamUsage = false) {
  const encoder = chatFormat.createStreamEncoder({ createdSeconds: 7, wantsStreamUsage });
  const encode = (...events: readonly InferenceEvent[]) => events.map(encoder.encode);
  return { ...encoder, encodeAll: encode };
}

const chunk = (delta: object, finishReason: string | null = null, rest: object = {}) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-01',
    object: 'chat.completion.chunk',
    created: 7,
    model: 'llm-opus-4.7',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    ...rest,
  })}\n\n`;

const calls = (...toolCalls: readonly object[]) => chunk({ tool_calls: toolCalls });
const opened = (index: number, block: number) =>
  calls({
    index,
    id: `toolu_${block}`,
    type: 'function',
    function: { name: 'find', arguments: '' },
  });

describe('the events of an answer', () => {
  it.each<[string, readonly InferenceEvent[], readonly string[]]>([
    ['the start', [], []],
    ['the start of a text', [openText], ['']],
    [
      'text',
      [openText, { type: 'delta', index: 0, delta: { type: 'text', text: 'Hi' } }],
      ['', chunk({ content: 'Hi' })],
    ],
    [
      'text of nothing',
      [openText, { type: 'delta', index: 0, delta: { type: 'text', text: '' } }],
      ['', ''],
    ],
    [
      'thoughts',
      [
        { type: 'block_start', index: 0, block: { type: 'thinking' } },
        { type: 'delta', index: 0, delta: { type: 'thinking', thinking: 'Hm' } },
        { type: 'delta', index: 0, delta: { type: 'signature', signature: 's' } },
        { type: 'block_stop', index: 0 },
      ],
      ['', chunk({ reasoning_content: 'Hm' }), '', ''],
    ],
    [
      'redacted thoughts',
      [
        { type: 'block_start', index: 0, block: { type: 'redacted_thinking', data: 'x' } },
        { type: 'block_stop', index: 0 },
      ],
      ['', ''],
    ],
    [
      'a call without arguments',
      [openTool(0), giveInput(0, ''), { type: 'block_stop', index: 0 }],
      [opened(0, 0), '', calls({ index: 0, function: { arguments: '{}' } })],
    ],
    [
      'calls, which are counted without the texts',
      [
        openText,
        { type: 'block_stop', index: 0 },
        openTool(1),
        giveInput(1, '{"a":'),
        giveInput(1, '1}'),
        { type: 'block_stop', index: 1 },
        openTool(2),
        giveInput(2, '{}'),
        { type: 'block_stop', index: 2 },
      ],
      [
        '',
        '',
        opened(0, 1),
        calls({ index: 0, function: { arguments: '{"a":' } }),
        calls({ index: 0, function: { arguments: '1}' } }),
        '',
        opened(1, 2),
        calls({ index: 1, function: { arguments: '{}' } }),
        '',
      ],
    ],
  ])('become chunks [%s]', (_name, events, expected) => {
    const first = chunk({ role: 'assistant' });
    expect(createEncoder().encodeAll(start, ...events)).toEqual([first, ...expected]);
  });

  it('end with the reason and the terminator', () => {
    expect(createEncoder().encodeAll(start, finish).at(-1)).toBe(
      `${chunk({}, 'stop')}data: [DONE]\n\n`,
    );
  });

  it('end with a chunk of the usage for those who asked, which every chunk before it announces', () => {
    const [first, last] = createEncoder(true).encodeAll(start, finish);
    const usageChunk = {
      id: 'chatcmpl-01',
      object: 'chat.completion.chunk',
      created: 7,
      model: 'llm-opus-4.7',
      choices: [],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 7 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    };
    expect(first).toBe(chunk({ role: 'assistant' }, null, { usage: null }));
    expect(last).toBe(
      `${chunk({}, 'stop', { usage: null })}data: ${JSON.stringify(usageChunk)}\n\ndata: [DONE]\n\n`,
    );
  });
});

describe('a stream', () => {
  it('is kept alive by comments', () => {
    expect(createEncoder().encodeSilence()).toBe(': keepalive\n\n');
  });

  it('that fails ends with the error and nothing after it', () => {
    const refusal = new Refusal('upstream_overloaded', 'Overloaded');
    expect(createEncoder().encodeError(refusal, 'req_1')).toBe(
      'data: {"error":{"message":"Overloaded","type":"server_error","param":null,"code":"overloaded"}}\n\n',
    );
  });
});
