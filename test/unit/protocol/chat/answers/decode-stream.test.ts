import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  WAITING_BLOCKS_MAX,
  WAITING_CHARS_MAX,
} from '../../../../../src/protocol/answers/block-queue.ts';
import { NO_USAGE } from '../../../../../src/protocol/answers/no-usage.ts';
import { CALLS_MAX } from '../../../../../src/protocol/chat/answers/decode-calls.ts';
import { createStreamDecoder } from '../../../../../src/protocol/chat/answers/decode-stream.ts';
import type { InferenceEvent } from '../../../../../src/protocol/inference.ts';
import { Refusal } from '../../../../../src/protocol/refusals.ts';
import { collectAnswer, decodeBytes } from '../../../../contract/read-meaning.ts';

const FIXTURES = new URL('../../../../fixtures/upstreams/chat/', import.meta.url);
const names = readdirSync(FIXTURES)
  .filter((file) => file.endsWith('.sse'))
  .map((file) => file.slice(0, -'.sse'.length));

const chunk = (delta: unknown, finishReason: string | null = null, more = {}) => ({
  id: 'chatcmpl-1',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
  ...more,
});
const call = (index: number, json: string, more = {}) => ({
  tool_calls: [{ index, function: { arguments: json, ...more } }],
});
const firstOf = (index: number, json: string) => ({
  tool_calls: [{ index, id: `call_${index}`, function: { name: 'f', arguments: json } }],
});

/** The events that each chunk yields. */
function decodeEach(...payloads: unknown[]): InferenceEvent[][] {
  const decoder = createStreamDecoder();
  const events = payloads.map((payload) => {
    const data = typeof payload === 'string' ? payload : JSON.stringify(payload);
    return decoder.decode({ event: undefined, data });
  });
  return [...events, decoder.end()];
}

const decode = (...payloads: unknown[]) => decodeEach(...payloads).flat();

describe('the decoder of chat streams', () => {
  for (const name of names) {
    it(`reads ${name}`, () => {
      const bytes = readFileSync(new URL(`${name}.sse`, FIXTURES));
      const answer: unknown = JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), 'utf8'));
      expect(collectAnswer(decodeBytes(bytes, createStreamDecoder()))).toEqual(answer);
    });
  }

  it('emits everything as it comes while it comes in order', () => {
    const kinds = decodeEach(
      chunk({ role: 'assistant' }),
      chunk({ reasoning: 'Hm' }),
      chunk({ content: 'Hi' }),
      chunk(firstOf(0, '{"a"')),
      chunk(call(0, ':1}')),
      chunk(firstOf(1, '')),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ).map((events) => events.map(({ type }) => type));
    expect(kinds).toEqual([
      ['start'],
      ['block_start', 'delta'],
      // The signature of the thought.
      ['delta', 'block_stop', 'block_start', 'delta'],
      ['block_stop', 'block_start', 'delta'],
      ['delta'],
      ['block_stop', 'block_start'],
      [],
      ['block_stop', 'finish'],
      [],
    ]);
  });

  it('says that nobody reported the usage, and takes the last one reported', () => {
    const finishOf = (...payloads: unknown[]) => decode(...payloads).at(-1);
    const reported = { prompt_tokens: 3, completion_tokens: 1 };
    const last = { prompt_tokens: 3, completion_tokens: 2 };
    expect(finishOf(chunk({}, 'stop', { usage: {} }), '[DONE]')).toMatchObject({
      usage: undefined,
    });
    expect(
      finishOf(
        chunk({}, null, { usage: reported }),
        chunk({}, null, { usage: last }),
        chunk({}, 'stop', { usage: null }),
        '[DONE]',
      ),
    ).toMatchObject({ usage: { input: 3, output: 2 } });
  });

  it('is over where the terminator is, or where the stream ends with a reason', () => {
    expect(decode(chunk({ content: 'Hi' }), '[DONE]').at(-1)).toMatchObject({
      type: 'finish',
      stopReason: 'end_turn',
    });
    expect(decode(chunk({ content: 'Hi' }, 'length')).at(-1)).toMatchObject({
      stopReason: 'max_tokens',
    });
    expect(() => decode(chunk({ content: 'Hi' }))).toThrow('cut off');
  });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['function_call', 'tool_use'],
    ['model_length', 'max_tokens'],
    ['max_tokens', 'max_tokens'],
    ['model_context_window_exceeded', 'model_context_window_exceeded'],
    ['sensitive', 'refusal'],
    ['eos_token', 'end_turn'],
    ['of_tomorrow', 'end_turn'],
  ])('reads the reason %s as %s', (reason, stopReason) => {
    expect(decode(chunk({ content: 'Hi' }, reason)).at(-1)).toMatchObject({ stopReason });
  });

  it.each(['abort', 'error', 'network_error', 'insufficient_system_resource'])(
    'refuses what ends with the reason %s, when all of it is read',
    (reason) => {
      const usage = { prompt_tokens: 3, completion_tokens: 1 };
      const said = [chunk({ content: 'Hi' }, reason), { id: 'chatcmpl-1', choices: [], usage }];
      expect(() => decode(...said, '[DONE]')).toThrow('broke off');
      expect(() => decode(...said)).toThrow('broke off');
    },
  );

  it('refuses when the upstream fails in its middle', () => {
    const fail = (error: unknown) => () => decode(chunk({ content: 'Hi' }), { error });
    const failed = (refusal: string) => expect.objectContaining({ refusal });
    expect(fail({ message: 'x', type: 'server_error' })).toThrow(failed('upstream_broken'));
    expect(fail({ message: 'x', code: 429 })).toThrow(failed('upstream_overloaded'));
    expect(fail({ message: 'x', code: 'context_length_exceeded' })).toThrow(
      failed('context_too_long'),
    );
    expect(fail('gone')).toThrow(failed('upstream_broken'));
    expect(decode(chunk({}, 'stop', { error: null })).at(-1)).toMatchObject({ type: 'finish' });
  });

  it('says what the upstream used when it reports that with its failure', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 1 };
    const before = { prompt_tokens: 3, completion_tokens: 2 };
    const fail = (last: object) => () =>
      decode(chunk({ content: 'Hi' }, null, { usage: before }), last);
    const reported = (reportedUsage: unknown) => expect.objectContaining({ reportedUsage });
    const highest = reported({ ...NO_USAGE, input: 3, output: 2 });
    expect(fail({ error: 'gone', usage })).toThrow(highest);
    expect(fail({ choices: [{ index: 0, error: 'gone' }], usage })).toThrow(highest);
    expect(fail({ error: 'gone' })).toThrow(reported(undefined));
  });

  it('refuses when the upstream fails in words of its own', () => {
    const failed = (refusal: string) => expect.objectContaining({ refusal });
    const said = chunk({ content: 'Hi' });
    const body = { message: 'x', code: 429 };
    const flat = { object: 'error', ...body };
    expect(() => decode(said, flat)).toThrow(failed('upstream_overloaded'));
    expect(() => decode({ ...flat, choices: [], code: null })).toThrow(failed('upstream_broken'));
    expect(() => decode(said, { text: 'x', error_code: 50001 })).toThrow(failed('upstream_broken'));
    const decoder = createStreamDecoder();
    decoder.decode({ event: undefined, data: JSON.stringify(said) });
    expect(() => decoder.decode({ event: 'error', data: JSON.stringify(body) })).toThrow(
      failed('upstream_overloaded'),
    );
    expect(decode(said, { error_code: 0 }, '[DONE]').at(-1)).toMatchObject({ type: 'finish' });
  });

  it('refuses what makes no sense', () => {
    const streams: unknown[][] = [
      [],
      ['[DONE]'],
      ['null'],
      ['{'],
      [chunk(call(0, '{}'))],
      [chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: 1 } }] })],
      [chunk(firstOf(0, '{}')), chunk(firstOf(1, '')), chunk(call(0, '{}')), '[DONE]'],
    ];
    for (const payloads of streams) {
      expect(() => decode(...payloads), JSON.stringify(payloads)).toThrow(Refusal);
    }
  });

  it('takes white space behind a call that is complete', () => {
    const payloads = [chunk(firstOf(0, '{}')), chunk(firstOf(1, '{}')), chunk(call(0, ' \n'))];
    expect(collectAnswer(decode(...payloads, '[DONE]')).content).toHaveLength(2);
  });

  it('holds back no more than so much', () => {
    const half = 'x'.repeat(WAITING_CHARS_MAX / 2);
    const begin = [chunk(firstOf(0, '{')), chunk(firstOf(1, half))];
    expect(() => decode(...begin, chunk(call(1, half)), '[DONE]')).not.toThrow();
    expect(() => decode(...begin, chunk(call(1, `${half}x`)))).toThrow('out of order');
    // A block that has been held back and then sent does not count as held back.
    const rounds = [0, 2, 4].flatMap((i) => [
      chunk(firstOf(i, '{')),
      chunk(firstOf(i + 1, `{"a":"${half}`)),
      chunk(call(i, '}')),
      chunk(call(i + 1, '"}')),
    ]);
    expect(() => decode(...rounds, '[DONE]')).not.toThrow();
    // Content that is sent immediately does not count as held back.
    const live = Array.from({ length: 3 }, () => chunk(call(0, half)));
    expect(() => decode(chunk(firstOf(0, '{')), ...live, '[DONE]')).not.toThrow();
  });

  it('holds back no more than so many blocks', () => {
    const speech = Array.from({ length: WAITING_BLOCKS_MAX - 1 }, (_, i) =>
      chunk(i % 2 === 0 ? { content: 'x' } : { reasoning: 'x' }),
    );
    const begin = chunk(firstOf(0, '{'));
    expect(() => decode(begin, ...speech, '[DONE]')).not.toThrow();
    expect(() => decode(begin, ...speech, chunk({ reasoning: 'x' }))).toThrow('out of order');
    // Any number of blocks may be sent immediately.
    expect(() => decode(...speech, ...speech, '[DONE]')).not.toThrow();
  });

  it('takes no more than so many calls', () => {
    const calls = Array.from({ length: CALLS_MAX }, (_, i) => chunk(firstOf(i, '{}')));
    expect(() => decode(...calls, '[DONE]')).not.toThrow();
    expect(() => decode(...calls, chunk(firstOf(CALLS_MAX, '{}')))).toThrow('too many tools');
  });
});
