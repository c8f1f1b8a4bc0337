import { describe, expect, it } from 'vitest';
import type { AnswerForm } from '../../../src/protocol/inference.ts';
import { createAnswerReader, createErrorReader } from '../../../src/upstream/answer-reader.ts';
import { SIGN_OF_LIFE } from '../../../src/upstream/pushed-part.ts';
import { CHAT_DIALECT } from '../../../src/upstream/upstream-dialect.ts';

const PIECES = 1_000_000;

function createReader(isStream: boolean, contentType: string | undefined, format = 'native') {
  return createAnswerReader({
    dialect: CHAT_DIALECT,
    isStream,
    contentType,
    form: { format, context: { createdSeconds: 0, wantsStreamUsage: true } } as AnswerForm,
    seal: undefined,
    namer: undefined,
    model: 'm',
    isUnread: () => false,
    holder: { takeMemory: () => true, giveBackMemory: () => {} },
    maskText: (text) => text,
    emitter: { emit: () => {} },
  });
}

it('takes no more memory for a whole answer that comes byte by byte', () => {
  const reader = createReader(false, 'application/json');
  const byte = Buffer.from(' ');
  const { heapUsed, external } = process.memoryUsage();
  for (let n = 0; n < PIECES; n += 1) reader.push(byte);
  const after = process.memoryUsage();
  expect(after.heapUsed + after.external - heapUsed - external).toBeLessThan(32 * PIECES);
  expect(() => reader.end()).toThrow();
});

it('reads an error that comes byte by byte', () => {
  const reader = createErrorReader(400, new Map());
  for (const byte of Buffer.from('{"error":{"message":"Ünknown"}}')) reader.push(Buffer.of(byte));
  expect(() => reader.end()).toThrow('Ünknown');
});

describe.each(['application/json', 'text/event-stream', 'text/plain', undefined])(
  'what was asked for as a stream and comes with the type %s',
  (contentType) => {
    const choice = { index: 0, finish_reason: 'stop' };
    const whole = { id: 'c', choices: [{ ...choice, message: { content: 'Hello' } }] };
    const chunk = { id: 'c', choices: [{ ...choice, delta: { content: 'Hello' } }] };
    const message = "This model's maximum context length is 10 tokens";

    it.each(['native', 'chat'])('is read as what it is, for a %s client', (format) => {
      const stream = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
      for (const body of [JSON.stringify(whole), ` \n${stream}`]) {
        const reader = createReader(true, contentType, format);
        const pushed = reader.push(Buffer.from(body));
        const ended = reader.end();
        const events = [...(pushed?.events ?? []), ...(ended?.events ?? [])];
        expect([events[0]?.type, events.at(-1)?.type]).toEqual(['start', 'finish']);
      }
    });

    it('is refused as what it says', () => {
      const reader = createReader(true, contentType);
      const body = { error: { message, code: 'context_length_exceeded' } };
      reader.push(Buffer.from(JSON.stringify(body)));
      expect(() => reader.end()).toThrow(
        expect.objectContaining({ refusal: 'context_too_long', status: 400 }),
      );
    });
  },
);

it.each(['native', 'chat'])(
  'takes events without data as signs of life, for a %s client',
  (format) => {
    const reader = createReader(true, 'text/event-stream', format);
    const chunkOf = (choice: object) =>
      `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }] })}\n\n`;
    reader.push(Buffer.from(chunkOf({ delta: { content: 'Hello' } })));
    expect(reader.push(Buffer.from('data: \n\n'))).toEqual(SIGN_OF_LIFE);
    reader.push(
      Buffer.from(`${chunkOf({ delta: {}, finish_reason: 'stop' })}event: ping\ndata:\n\n`),
    );
    expect(reader.end()?.events.at(-1)?.type).toBe('finish');
  },
);

it('reads an answer whose error says nothing', () => {
  for (const error of [{}, { code: null, message: '' }]) {
    const choices = [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }];
    const reader = createReader(false, 'application/json');
    reader.push(Buffer.from(JSON.stringify({ id: 'c', error, choices })));
    expect(reader.end()?.events.at(-1)?.type).toBe('finish');
  }
});
