import { expect, it } from 'vitest';
import { createChatRelay } from '../../../../../src/protocol/chat/answers/relay-stream.ts';

const CONTEXT = { createdSeconds: 1, wantsStreamUsage: false };
const FIRST = 'Hello';
const REST = ', you out there';

function chunkOf(content: string, more: object = {}): string {
  const delta = { role: 'assistant', content };
  const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'vendor' };
  const choices = [{ index: 0, delta, finish_reason: null }];
  return `data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`;
}

const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };

it('takes the usage of a choice, and sends it as its own alone', () => {
  const relay = createChatRelay('m', { ...CONTEXT, wantsStreamUsage: true }, (text) => text);
  const last = { index: 0, delta: {}, finish_reason: 'stop', usage: { ...usage, vendor: 1 } };
  const body = `${chunkOf(FIRST)}data: ${JSON.stringify({ choices: [last] })}\n\ndata: [DONE]\n\n`;
  const { bytes, events, closing } = relay.push(Buffer.from(body));
  const finish = events.at(-1);
  expect(finish).toMatchObject({ type: 'finish', usage: { input: 10, output: 1 } });
  expect(Buffer.concat(bytes).toString()).not.toContain('usage":{');
  const charged = finish?.type === 'finish' ? finish.usage : undefined;
  const end = Buffer.from((charged && closing?.(charged)) ?? []).toString();
  expect(end).toContain('"usage":{"prompt_tokens":10,"completion_tokens":1,');
  expect(end).toContain('"vendor":1');
});

it('says how much is said behind the last usage of a read', () => {
  const relay = createChatRelay('m', CONTEXT, (text) => text);
  const first = relay.push(Buffer.from(chunkOf(FIRST)));
  expect(first).toMatchObject({ contentBytes: FIRST.length, unreportedBytes: undefined });
  const relayed = relay.push(Buffer.from(chunkOf(FIRST, { usage }) + chunkOf(REST).repeat(3)));
  expect(relayed.events).toMatchObject([{ type: 'usage', usage: { input: 10, output: 1 } }]);
  const rest = 3 * REST.length;
  expect(relayed).toMatchObject({ contentBytes: FIRST.length + rest, unreportedBytes: rest });
});
