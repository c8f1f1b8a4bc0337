import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../../../src/protocol/answers/no-usage.ts';
import type { InferenceEvent, Usage } from '../../../../../src/protocol/inference.ts';
import { createStreamDecoder } from '../../../../../src/protocol/native/answers/decode-stream.ts';
import { createStreamEncoder } from '../../../../../src/protocol/native/answers/encode-stream.ts';
import { Refusal } from '../../../../../src/protocol/refusals.ts';
import { createSseDecoder } from '../../../../../src/protocol/sse/sse-decoder.ts';
import { eventSequences } from '../../../../contract/event-sequences.ts';

function decode(...payloads: unknown[]): InferenceEvent[] {
  const decoder = createStreamDecoder();
  const events = payloads.flatMap((payload) =>
    decoder.decode({ event: undefined, data: JSON.stringify(payload) }),
  );
  decoder.end();
  return events;
}

const start = { type: 'message_start', message: { id: 'msg_1', model: 'm' } };
const stop = { type: 'message_stop' };
const blockStart = (index: number, content_block: unknown) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const blockStop = (index: number) => ({ type: 'content_block_stop', index });
const textDelta = (index: number, text: string) => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'text_delta', text },
});
const startEvent = { type: 'start', id: 'msg_1', model: 'm', usage: NO_USAGE };
const finishEvent = {
  type: 'finish',
  stopReason: 'end_turn',
  stopSequence: undefined,
  usage: undefined,
};

/** Drops what the wire does not say: how long the last cache write is kept, and what is empty. */
function forgetDetails(events: readonly InferenceEvent[]): unknown[] {
  const [first] = events;
  const usageAtStart = first?.type === 'start' ? first.usage : NO_USAGE;
  const sum = ({ cacheWrite5m, cacheWrite1h, untimedWrite: _, ...usage }: Usage) => ({
    ...usage,
    cacheWrite: cacheWrite5m + cacheWrite1h,
  });
  return events
    .filter((event) => event.type !== 'delta' || Object.values(event.delta).every((v) => v !== ''))
    .map((event) => {
      if (event.type === 'start') {
        return { ...event, usage: sum({ ...event.usage, output: 0, thinking: 0 }) };
      }
      if (event.type !== 'finish') return event;
      const { stopSequence, usage = usageAtStart } = event;
      return { ...event, stopSequence: stopSequence || undefined, usage: sum(usage) };
    });
}

describe('the decoder of native streams', () => {
  it('reads what the encoder writes', () => {
    fc.assert(
      fc.property(eventSequences, ({ events, isFailed }) => {
        if (isFailed) return;
        const encoder = createStreamEncoder();
        const stream = events.map((event) => encoder.encode(event)).join('');
        const decoder = createStreamDecoder();
        const sse = createSseDecoder().push(new TextEncoder().encode(stream));
        const decoded = sse
          .flatMap((event) => decoder.decode(event))
          .filter(({ type }) => type !== 'usage');
        decoder.end();
        expect(forgetDetails(decoded)).toEqual(forgetDetails(events));
      }),
      { interruptAfterTimeLimit: 2_000 },
    );
  });

  it('takes the five events that report neither usage nor reason', () => {
    expect(
      decode(
        start,
        blockStart(0, { type: 'text', text: '' }),
        textDelta(0, 'Hi'),
        blockStop(0),
        stop,
      ),
    ).toEqual([
      startEvent,
      { type: 'block_start', index: 0, block: { type: 'text' } },
      { type: 'delta', index: 0, delta: { type: 'text', text: 'Hi' } },
      { type: 'block_stop', index: 0 },
      finishEvent,
    ]);
  });

  it('leaves out blocks and events that it does not know, and numbers the others anew', () => {
    const events = decode(
      start,
      { type: 'event_of_tomorrow' },
      blockStart(0, { type: 'server_tool_use', id: 's', name: 'n', input: {} }),
      textDelta(0, 'lost'),
      blockStop(0),
      blockStart(1, { type: 'text', text: 'Hi' }),
      { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation: {} } },
      blockStop(1),
      stop,
    );
    expect(events.slice(1, -1)).toEqual([
      { type: 'block_start', index: 0, block: { type: 'text' } },
      { type: 'delta', index: 0, delta: { type: 'text', text: 'Hi' } },
      { type: 'block_stop', index: 0 },
    ]);
  });

  it("takes a tool's input that comes at once, unless it comes in pieces as well", () => {
    const tool = blockStart(0, { type: 'tool_use', id: 't', name: 'n', input: { a: 1 } });
    const piece = {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"a":2}' },
    };
    const jsonOf = (events: readonly InferenceEvent[]) =>
      events.flatMap((event) =>
        event.type === 'delta' && event.delta.type === 'input_json' ? [event.delta.json] : [],
      );
    expect(jsonOf(decode(start, tool, blockStop(0), stop))).toEqual(['{"a":1}']);
    expect(jsonOf(decode(start, tool, piece, blockStop(0), stop))).toEqual(['{"a":2}']);
  });

  it('ends a thought where a call begins, and skips its end behind the calls', () => {
    const callOf = (index: number, id: string) => [
      blockStart(index, { type: 'tool_use', id, name: 'n', input: { id } }),
      blockStop(index),
    ];
    const thought = blockStart(0, { type: 'thinking', thinking: 'Hm' });
    const text = [blockStart(3, { type: 'text', text: '' }), textDelta(3, 'Hi'), blockStop(3)];
    const late = [start, thought, ...callOf(0, 'a'), ...callOf(1, 'b'), blockStop(2), ...text];
    const inOrder = [start, thought, blockStop(0), ...callOf(1, 'a'), ...callOf(2, 'b'), ...text];
    expect(decode(...late, stop)).toEqual(decode(...inOrder, stop));
  });

  it('knows from the beginning how long what is reported again at the end is cached', () => {
    const cache_creation = { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 0 };
    const reported = { input_tokens: 5, cache_creation_input_tokens: 30, output_tokens: 1 };
    const untimedOf = (usage: object) => {
      const finish = decode(
        { type: 'message_start', message: { id: 'msg_1', model: 'm', usage } },
        { type: 'message_delta', delta: {}, usage: reported },
        stop,
      ).at(-1);
      return finish?.type === 'finish' && finish.usage?.untimedWrite;
    };
    expect(untimedOf({ ...reported, cache_creation })).toBeUndefined();
    expect(untimedOf(reported)).toBe(30);
  });

  it('keeps of the usage what is not reported again', () => {
    const usage = {
      input_tokens: 5,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      cache_read_input_tokens: 7,
      output_tokens: 1,
    };
    const events = decode(
      { type: 'message_start', message: { id: 'msg_1', model: 'm', usage } },
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 9 } },
      stop,
    );
    expect(events.at(-1)).toEqual({
      type: 'finish',
      stopReason: 'max_tokens',
      stopSequence: undefined,
      usage: { ...NO_USAGE, input: 5, cacheRead: 7, cacheWrite5m: 10, cacheWrite1h: 20, output: 9 },
    });
  });

  it.each([
    [0, 1],
    [1, 0],
  ])('keeps the reason if another end reports none, in the order %j, %j', (...order) => {
    const ends = [
      { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' } },
      { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 4 } },
    ];
    expect(decode(start, ...order.map((at) => ends[at]), stop).at(-1)).toEqual({
      type: 'finish',
      stopReason: 'stop_sequence',
      stopSequence: 'END',
      usage: { ...NO_USAGE, output: 4 },
    });
  });

  it('ends an answer whose reason nobody knows', () => {
    const delta = { type: 'message_delta', delta: { stop_reason: 'of_tomorrow' } };
    expect(decode(start, delta, stop).at(-1)).toEqual(finishEvent);
  });

  it('does not take the count at the start, which is of a beginning, for that of the whole', () => {
    const message = { id: 'msg_1', model: 'm', usage: { input_tokens: 5, output_tokens: 1 } };
    const startOf5 = { type: 'message_start', message };
    const usage = { ...NO_USAGE, input: 5 };
    const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' } };
    expect(decode(startOf5, delta, stop).at(-1)).toEqual(finishEvent);
    expect(decode(startOf5, { ...delta, usage: {} }, stop).at(-1)).toEqual(finishEvent);
    expect(decode(startOf5, { ...delta, usage: { input_tokens: 6 } }, stop).at(-1)).toEqual({
      ...finishEvent,
      usage: { ...usage, input: 6 },
    });
  });

  it('refuses when the upstream fails, in its words where they are for the client', () => {
    const failures = {
      overloaded_error: { refusal: 'upstream_overloaded', message: 'Overloaded' },
      timeout_error: { refusal: 'answer_too_slow', message: 'The upstream took too long.' },
      api_error: { refusal: 'upstream_broken', message: 'The upstream failed.' },
      invalid_request_error: { refusal: 'invalid_request', message: 'No more.' },
      toString: { refusal: 'upstream_broken', message: 'The upstream failed.' },
    };
    for (const [type, refusal] of Object.entries(failures)) {
      const error = { type: 'error', error: { type, message: 'No more.' } };
      expect(() => decode(start, error)).toThrow(expect.objectContaining(refusal));
    }
  });

  it('refuses what is nested too deeply to be written again', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const data = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":{"a":${nested(100_000)}}}}`;
    const decoder = createStreamDecoder();
    decoder.decode({ event: undefined, data: JSON.stringify(start) });
    expect(() => decoder.decode({ event: undefined, data })).toThrow(Refusal);
  });

  it('refuses a stream that is cut off, out of order or no JSON', () => {
    const text = blockStart(0, { type: 'text', text: '' });
    const streams: unknown[][] = [
      [],
      [start],
      [stop],
      [start, start],
      [start, text, stop],
      [start, text, text],
      [start, blockStop(0)],
      [start, textDelta(0, 'Hi')],
      [start, text, textDelta(1, 'Hi')],
      [start, stop, text],
      [start, blockStart(0, { type: 'tool_use' })],
      [{ type: 'message_start' }],
      ['message_start'],
      [null],
    ];
    for (const payloads of streams) {
      expect(() => decode(...payloads), JSON.stringify(payloads)).toThrow(Refusal);
    }
    expect(() => createStreamDecoder().decode({ event: 'x', data: '{' })).toThrow(Refusal);
  });
});
