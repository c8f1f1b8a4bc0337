import { expect, it } from 'vitest';
import { createAnswerCollector } from '../../../../../src/protocol/answers/answer-collector.ts';
import { decodeChatAnswer } from '../../../../../src/protocol/chat/answers/decode-answer.ts';
import { createStreamDecoder } from '../../../../../src/protocol/chat/answers/decode-stream.ts';
import type { InferenceEvent } from '../../../../../src/protocol/inference.ts';
import { nativeFormat } from '../../../../../src/protocol/native/native-format.ts';
import { createSseDecoder } from '../../../../../src/protocol/sse/sse-decoder.ts';

/** Native clients cannot send a text of white space back, but other upstreams write such texts. */

type Json = Readonly<Record<string, unknown>>;

const CONTEXT = { createdSeconds: 1, wantsStreamUsage: true };
const call = {
  index: 0,
  id: 'call_abcdefgh1',
  type: 'function',
  function: { name: 'look', arguments: '{}' },
};

function streamOf(...deltas: readonly Json[]): Json[] {
  const decoder = createStreamDecoder();
  const encoder = nativeFormat.createStreamEncoder(CONTEXT);
  const chunks = deltas.map((delta) => ({
    id: 'chatcmpl-1',
    choices: [{ index: 0, delta, finish_reason: null }],
  }));
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  const datas = [...chunks.map((chunk) => JSON.stringify(chunk)), JSON.stringify(end), '[DONE]'];
  const events = datas.flatMap((data) => decoder.decode({ event: undefined, data }));
  const written = events.map((event) => encoder.encode(event)).join('');
  const payloads = createSseDecoder()
    .push(Buffer.from(written))
    .map(({ data }): Json => JSON.parse(data));
  return payloads.filter(({ type }) => String(type).startsWith('content_block_'));
}

function answerOf(message: Json): unknown {
  const body = { id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason: 'stop' }] };
  const collector = createAnswerCollector();
  const events: readonly InferenceEvent[] = decodeChatAnswer(JSON.stringify(body));
  for (const event of events) collector.add(event);
  return JSON.parse(nativeFormat.encodeAnswer(collector.finish(), CONTEXT) as string)['content'];
}

it('leaves a text of white space out of a stream, and counts on without it', () => {
  const told = streamOf(
    { reasoning_content: 'Hm.' },
    { content: '\n' },
    { content: '\n' },
    { tool_calls: [call] },
    { content: ' ' },
  );
  expect(told.map(({ type, index }) => [type, index])).toEqual([
    ['content_block_start', 0],
    ['content_block_delta', 0],
    ['content_block_delta', 0],
    ['content_block_stop', 0],
    ['content_block_start', 1],
    ['content_block_delta', 1],
    ['content_block_delta', 1],
    ['content_block_stop', 1],
  ]);
  expect(told[4]).toMatchObject({ content_block: { type: 'tool_use', name: 'look' } });
});

it('begins a text in a stream with its first visible piece and the white space before it', () => {
  const told = streamOf({ content: '\n' }, { content: '\n' }, { content: 'Hi' }, { content: '\n' });
  expect(told).toMatchObject([
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { text: '\n\nHi' } },
    { type: 'content_block_delta', index: 0, delta: { text: '\n' } },
    { type: 'content_block_stop', index: 0 },
  ]);
});

it('lets white space without an end go on', () => {
  const space = '\n'.repeat(40_000);
  const told = streamOf({ content: space }, { content: space });
  expect(told).toMatchObject([
    { type: 'content_block_start' },
    { type: 'content_block_delta', delta: { text: space + space } },
    { type: 'content_block_stop' },
  ]);
});

it('leaves a text of white space out of a whole answer', () => {
  expect(answerOf({ role: 'assistant', content: '\n\n', tool_calls: [call] })).toMatchObject([
    { type: 'tool_use', name: 'look' },
  ]);
  expect(answerOf({ role: 'assistant', content: '\n\nHi' })).toEqual([
    { type: 'text', text: '\n\nHi' },
  ]);
});
