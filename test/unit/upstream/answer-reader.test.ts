import { expect, it } from 'vitest';
import { createAnswerReader, createErrorReader } from '../../../src/upstream/answer-reader.ts';
import { CHAT_DIALECT } from '../../../src/upstream/upstream-dialect.ts';

const PIECES = 1_000_000;

it('takes no more memory for a whole answer that comes byte by byte', () => {
  const reader = createAnswerReader({
    dialect: CHAT_DIALECT,
    isStream: false,
    contentType: 'application/json',
    form: { format: 'native', context: { createdSeconds: 0, wantsStreamUsage: true } },
    seal: undefined,
    namer: undefined,
    model: 'm',
    isUnread: () => false,
    maskText: (text) => text,
    emitter: { emit: () => {} },
  });
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
