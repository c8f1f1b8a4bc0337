import { describe, expect, it } from 'vitest';
import { createAnswerCollector } from '../../../../src/protocol/answers/answer-collector.ts';
import { NO_USAGE } from '../../../../src/protocol/answers/no-usage.ts';
import type {
  InferenceAnswer,
  InferenceEvent,
  StopReason,
} from '../../../../src/protocol/inference.ts';

const usage = {
  input: 1,
  cacheRead: 2,
  cacheWrite5m: 3,
  cacheWrite1h: 4,
  output: 5,
  thinking: 6,
  searches: 0,
};
const start: InferenceEvent = {
  type: 'start',
  id: 'msg_1',
  model: 'llm-opus-4.7',
  usage: NO_USAGE,
};
const finishWith = (stopReason: StopReason): InferenceEvent => ({
  type: 'finish',
  stopReason,
  stopSequence: undefined,
  usage,
});
const finish = finishWith('end_turn');
const openText = (index: number): InferenceEvent => ({
  type: 'block_start',
  index,
  block: { type: 'text' },
});
const openTool = (index: number): InferenceEvent => ({
  type: 'block_start',
  index,
  block: { type: 'tool_use', id: `toolu_${index}`, name: 'find' },
});
const say = (index: number, text: string): InferenceEvent => ({
  type: 'delta',
  index,
  delta: { type: 'text', text },
});
const giveInput = (index: number, json: string): InferenceEvent => ({
  type: 'delta',
  index,
  delta: { type: 'input_json', json },
});
const close = (index: number): InferenceEvent => ({ type: 'block_stop', index });

function collect(events: readonly InferenceEvent[]): InferenceAnswer {
  const collector = createAnswerCollector();
  for (const event of events) collector.add(event);
  return collector.finish();
}

describe('an answer', () => {
  it('has all blocks in their order, with what its last event says of it', () => {
    const answer = collect([
      start,
      { type: 'block_start', index: 0, block: { type: 'thinking' } },
      { type: 'delta', index: 0, delta: { type: 'thinking', thinking: 'Well, ' } },
      { type: 'delta', index: 0, delta: { type: 'thinking', thinking: 'yes.' } },
      { type: 'delta', index: 0, delta: { type: 'signature', signature: 'sig' } },
      close(0),
      { type: 'block_start', index: 1, block: { type: 'redacted_thinking', data: 'xyz' } },
      close(1),
      openText(2),
      say(2, 'Hel'),
      say(2, 'lo'),
      close(2),
      openTool(3),
      giveInput(3, '{"a"'),
      giveInput(3, ':1}'),
      close(3),
      { type: 'finish', stopReason: 'stop_sequence', stopSequence: 'END', usage },
    ]);
    expect(answer).toEqual({
      id: 'msg_1',
      model: 'llm-opus-4.7',
      content: [
        { type: 'thinking', thinking: 'Well, yes.', signature: 'sig' },
        { type: 'redacted_thinking', data: 'xyz' },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 'toolu_3', name: 'find', input: { a: 1 } },
      ],
      stopReason: 'stop_sequence',
      stopSequence: 'END',
      usage,
    });
  });

  it('may be empty', () => {
    expect(collect([start, finish]).content).toEqual([]);
  });

  it('gives a tool that got no input an empty one', () => {
    expect(collect([start, openTool(0), close(0), finish]).content).toEqual([
      { type: 'tool_use', id: 'toolu_0', name: 'find', input: {} },
    ]);
  });

  it.each(['max_tokens', 'model_context_window_exceeded', 'refusal'] as const)(
    'keeps a tool whose input was cut off [%s]',
    (stopReason) => {
      const events = [start, openTool(0), giveInput(0, '{"a":'), close(0), finishWith(stopReason)];
      expect(collect(events)).toMatchObject({ stopReason, content: [{ name: 'find', input: {} }] });
    },
  );

  it.each(['{"a":', '[]', 'null', 'so to speak', `{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}`])(
    'has an input that a model wrote as no JSON object, in an object [%s]',
    (json) => {
      const call = [openTool(0), giveInput(0, json), close(0)];
      const content = [{ type: 'tool_use', id: 'toolu_0', name: 'find', input: { _raw: json } }];
      expect(collect([start, ...call, finishWith('tool_use')])).toMatchObject({ content });
      const more = [openText(1), say(1, 'a'), close(1), finishWith('max_tokens')];
      expect(collect([start, ...call, ...more])).toMatchObject({
        content: [...content, { type: 'text', text: 'a' }],
      });
    },
  );
});

describe('what is no answer', () => {
  const whole = [start, openText(0), say(0, 'a'), close(0), finish];
  it.each<[string, readonly InferenceEvent[]]>([
    ['nothing', []],
    ['no start', whole.slice(1)],
    ['two starts', [start, ...whole]],
    ['no end', whole.slice(0, -1)],
    ['two ends', [...whole, finish]],
    ['a block without an end', [start, openText(0), finish]],
    ['a block in a block', [start, openText(0), openText(1), close(1), close(0), finish]],
    ['a first block that is not 0', [start, openText(1), close(1), finish]],
    ['the same block twice', [start, openText(0), close(0), openText(0), close(0), finish]],
    ['a delta outside of blocks', [start, say(0, 'a'), finish]],
    ['a delta of another block', [start, openText(0), say(1, 'a'), close(0), finish]],
    ['a delta of another kind', [start, openText(0), giveInput(0, '{}'), close(0), finish]],
    ['the end of another block', [start, openText(0), close(1), finish]],
  ])('is refused as broken [%s]', (_name, events) => {
    expect(() => collect(events)).toThrow(
      expect.objectContaining({ refusal: 'upstream_broken', status: 502 }),
    );
  });
});
