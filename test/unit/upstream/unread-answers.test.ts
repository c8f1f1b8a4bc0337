import { describe, expect, it } from 'vitest';
import { ANSWER_BYTES_MAX } from '../../../src/protocol/json/upstream-json.ts';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { createAnswerReader } from '../../../src/upstream/answer-reader.ts';
import {
  CHAT_DIALECT,
  EMBEDDINGS_DIALECT,
  NATIVE_DIALECT,
} from '../../../src/upstream/upstream-dialect.ts';
import { errorBody, wholeBody } from '../../support/upstreams/upstream-answers.ts';

const DIALECTS = { native: NATIVE_DIALECT, chat: CHAT_DIALECT, embeddings: EMBEDDINGS_DIALECT };

/** Reads a whole body, and learns after the first half that nobody wants the answer. */
function readUnread(kind: keyof typeof DIALECTS, body: string) {
  let isUnread = false;
  const reader = createAnswerReader({
    dialect: DIALECTS[kind],
    isStream: false,
    contentType: 'application/json',
    form: { format: 'native', context: { createdSeconds: 0, wantsStreamUsage: true } },
    seal: undefined,
    namer: undefined,
    model: 'm',
    isUnread: () => isUnread,
    holder: { takeMemory: () => true, giveBackMemory: () => {} },
    maskText: (text) => text,
    emitter: { emit: () => {} },
  });
  const bytes = Buffer.from(body);
  reader.push(bytes.subarray(0, bytes.length / 2));
  isUnread = true;
  reader.push(bytes.subarray(bytes.length / 2));
  return reader.end();
}

describe('embeddings that nobody reads any more', () => {
  it('are no output, and report their input', () => {
    const usage = { prompt_tokens: 12, total_tokens: 12 };
    const part = readUnread('embeddings', JSON.stringify({ data: [], usage }));
    expect(part?.events).toMatchObject([{ type: 'finish', usage: { input: 12, output: 0 } }]);
    expect(part?.contentBytes).toBe(0);
  });
});

describe('the words of a whole answer that nobody reads any more', () => {
  const logprob = { token: 'Hello', logprob: -1, bytes: [1], top_logprobs: [{ token: 'Hi' }] };
  const choices = [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'He"l\\lo',
        reasoning_content: 'Hm',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      logprobs: { content: [logprob] },
      finish_reason: 'stop',
    },
  ];
  const content = [
    { type: 'thinking', thinking: 'Hm', signature: 'c2lnbmF0dXJl' },
    { type: 'text', text: 'Hello', citations: null },
    { type: 'tool_use', id: 'c', name: 'f', input: { text: 'a', more: [{ b: 'bc' }], n: 1 } },
    { type: 'text', text: '' },
  ];

  it.each([
    ['chat', { id: 'c', other: { content: 'No' }, choices }, 9 + 2 + 9],
    ['native', { id: 'm', content, stop_reason: 'end_turn' }, 2 + 5 + 3],
    ['native', { id: 'm', content: [], usage: { input_tokens: 3, output_tokens: 0 } }, 0],
  ] as const)('are counted as they are written, and nothing else: %s', (kind, answer, bytes) => {
    for (const indent of [undefined, 2]) {
      expect(readUnread(kind, JSON.stringify(answer, null, indent))?.contentBytes).toBe(bytes);
    }
  });
});

describe.each(['native', 'chat'] as const)(
  'a whole %s answer that nobody reads any more',
  (kind) => {
    it('reports its usage', () => {
      const body = wholeBody(kind, 'Hello "usage": { \\ you'.repeat(50), { input: 12, output: 30 });
      const part = readUnread(kind, body);
      expect(part?.events).toMatchObject([{ type: 'finish', usage: { input: 12, output: 30 } }]);
      expect(part?.contentBytes).toBe(0);
    });

    it('is counted by its words where it reports none', () => {
      const body = wholeBody(kind, 'Hello', undefined);
      const part = readUnread(kind, body);
      expect(part?.events).toMatchObject([{ type: 'finish', usage: undefined }]);
      expect(part?.contentBytes).toBe('Hello'.length);
    });

    it.each([
      { input: 0, output: 0 },
      { input: 12, output: 0 },
    ])('is counted by its words where it reports no output: %o', (usage) => {
      const body = wholeBody(kind, 'Hello', usage);
      const part = readUnread(kind, body);
      expect(part?.events).toMatchObject([{ type: 'finish', usage }]);
      expect(part?.contentBytes).toBe('Hello'.length);
    });

    it('is a failure where it is no answer, or only a part of one', () => {
      const whole = wholeBody(kind, 'Hello', { input: 12, output: 30 });
      const fault = { detail: 'Internal Server Error', more: { content: [], choices: [] } };
      const others = ['', '<html>Bad gateway</html>', '{}', JSON.stringify(fault)];
      for (const body of [...others, whole.slice(0, -1), `${whole}x`]) {
        expect(() => readUnread(kind, body), body).toThrow(
          expect.objectContaining({ refusal: 'upstream_broken' }),
        );
      }
    });

    it('is a failure where it is longer than any answer may be', () => {
      const long = wholeBody(kind, 'x'.repeat(ANSWER_BYTES_MAX), { input: 12, output: 30 });
      expect(() => readUnread(kind, long)).toThrow(expect.objectContaining({ isOversize: true }));
    });

    it('is a failure where it is an error', () => {
      expect(() => readUnread(kind, errorBody(kind, 'Overloaded'))).toThrow(Refusal);
    });
  },
);
