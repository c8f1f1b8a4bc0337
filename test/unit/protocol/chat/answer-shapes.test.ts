import { getHeapSpaceStatistics } from 'node:v8';
import { expect, it } from 'vitest';
import { decodeChatAnswer } from '../../../../src/protocol/chat/answers/decode-answer.ts';
import { relayChatAnswer } from '../../../../src/protocol/chat/answers/relay-answer.ts';
import { wholeBody } from '../../../support/upstreams/upstream-answers.ts';

const ANSWERS = 10_000;
/** Answers that each get shapes of their own leave 190 to 430 bytes. */
const OLD_BYTES_MAX = 60;

const TEXT = wholeBody('chat', 'hello', { input: 120, output: 80 });
const CONTEXT = { createdSeconds: 1, wantsStreamUsage: false };

it.each([
  ['for a native client', () => decodeChatAnswer(TEXT)],
  ['for a chat client', () => relayChatAnswer(Buffer.from(TEXT), 'm-1', CONTEXT)],
])('whole answers %s leave nothing in the old generation', (_, read) => {
  const readMany = () => {
    for (let i = 0; i < ANSWERS; i++) read();
  };
  readMany();
  const before = oldBytes();
  readMany();
  expect((oldBytes() - before) / ANSWERS).toBeLessThan(OLD_BYTES_MAX);
});

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? Number.NaN;
}
