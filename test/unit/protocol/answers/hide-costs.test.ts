import { describe, expect, it } from 'vitest';
import { relayChatAnswer } from '../../../../src/protocol/chat/answers/relay-answer.ts';
import { createChatRelay } from '../../../../src/protocol/chat/answers/relay-stream.ts';
import { relayNativeAnswer } from '../../../../src/protocol/native/answers/decode-answer.ts';
import { createNativeRelay } from '../../../../src/protocol/native/answers/relay-stream.ts';
import { relayResponsesAnswer } from '../../../../src/protocol/responses/answers/relay-answer.ts';
import { createResponsesRelay } from '../../../../src/protocol/responses/answers/relay-stream.ts';
import type { RelayedAnswer } from '../../../../src/protocol/sse/relayed-answer.ts';
import type { StreamRelay } from '../../../../src/protocol/sse/stream-relay.ts';
import { AS_IT_IS, relayAll } from '../../../contract/relay-support.ts';

const CONTEXT = { createdSeconds: 1_800_000_000, wantsStreamUsage: true };
const TERMS = { model: 'llm-pinned', context: CONTEXT, seal: undefined };

const COSTS = {
  ...{ cost: 0.5, cost_details: { upstream_inference_cost: 0.4 }, is_byok: false },
  ...{ cost_in_usd_ticks: 4, estimated_cost: 0.5, totalCost: 1 },
};
const CHAT_USAGE = {
  ...{ prompt_tokens: 3, completion_tokens: 2, ...COSTS, more: 1 },
  completion_tokens_details: { cost: 0.5, audio_tokens: 1 },
};
const USAGE = {
  ...{ input_tokens: 3, output_tokens: 2, ...COSTS, more: 1 },
  output_tokens_details: { thinking_tokens: 1, reasoning_tokens: 1, audio_tokens: 1 },
};

const chatOf = (choice: object) => ({ provider: 'Vendor', choices: [{ index: 0, ...choice }] });
const RESPONSE = {
  ...{ id: 'resp_1', model: 'vendor', provider: 'Vendor', status: 'completed' },
  ...{ output: [], usage: USAGE },
};
const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'vendor', provider: 'Vendor' },
  content: [{ type: 'tool_use', id: 't', name: 'look', input: {} }],
};
const PLAIN_USAGE = {
  ...{ input_tokens: 3, output_tokens: 2, more: 1 },
  output_tokens_details: { audio_tokens: 1 },
};

function wholeOf({ events, closing }: RelayedAnswer) {
  const finish = events.at(-1);
  if (finish?.type !== 'finish' || finish.usage === undefined) throw new Error('it has no usage');
  return Buffer.from(closing?.(finish.usage) ?? []).toString();
}

const write = (...payloads: readonly object[]) =>
  payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`).join('');
const streamOf = (relay: StreamRelay, written: string) =>
  Buffer.from(relayAll(relay, [Buffer.from(written)]).bytes).toString();
const toBody = (answer: object) => Buffer.from(JSON.stringify(answer));

const message = { role: 'assistant', content: 'Hi' };
const chat = { ...chatOf({ message, finish_reason: 'stop' }), usage: CHAT_USAGE };
const strangeChat = {
  ...chat,
  choices: chat.choices.map((choice) => ({ ...choice, index: null })),
};
const END = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, provider: 'Vendor' };
const native = { ...MESSAGE, stop_reason: 'end_turn', usage: USAGE };

describe('what a vendor asks of its operator', () => {
  it.each([
    ['a whole chat answer', wholeOf(relayChatAnswer(toBody(chat), 'm', CONTEXT))],
    [
      'a whole chat answer that is mended',
      wholeOf(relayChatAnswer(toBody(strangeChat), 'm', CONTEXT)),
    ],
    [
      'a whole chat answer with a name that stands twice',
      wholeOf(
        relayChatAnswer(
          Buffer.from(JSON.stringify(chat).replace('{', '{"object":"","object":"",')),
          'm',
          CONTEXT,
        ),
      ),
    ],
    ['a whole native answer', wholeOf(relayNativeAnswer(toBody(native), 'm'))],
    [
      'a whole native answer that reports only who gave it',
      wholeOf(relayNativeAnswer(toBody({ ...native, usage: PLAIN_USAGE }), 'm')),
    ],
    ['a whole response', wholeOf(relayResponsesAnswer(toBody(RESPONSE), TERMS))],
    [
      'a whole response that reports only who gave it',
      wholeOf(relayResponsesAnswer(toBody({ ...RESPONSE, usage: PLAIN_USAGE }), TERMS)),
    ],
    [
      'a whole response with a name that stands twice',
      wholeOf(
        relayResponsesAnswer(
          Buffer.from(JSON.stringify(RESPONSE).replace('{', '{"object":"","object":"",')),
          TERMS,
        ),
      ),
    ],
    [
      'a native stream',
      streamOf(
        createNativeRelay('m', AS_IT_IS),
        write(
          { type: 'message_start', message: { ...MESSAGE, usage: USAGE } },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: USAGE },
          { type: 'message_stop' },
        ),
      ),
    ],
    [
      'a native stream whose end reports who gave it',
      streamOf(
        createNativeRelay('m', AS_IT_IS),
        write(
          { type: 'message_start', message: { ...MESSAGE, usage: PLAIN_USAGE } },
          { ...END, usage: PLAIN_USAGE },
          { ...END, usage: PLAIN_USAGE },
          { type: 'message_stop' },
        ),
      ),
    ],
    [
      'a stream of a response',
      streamOf(
        createResponsesRelay(TERMS),
        write(
          { type: 'response.created', response: { ...RESPONSE, status: 'in_progress' } },
          { type: 'response.completed', response: RESPONSE },
        ),
      ),
    ],
  ])('is not in %s, which keeps other unknown counts', (_, text) => {
    expect(text).toContain('"more":1');
    expect(text).toContain('"audio_tokens":1');
    expect(text).not.toMatch(/cost|byok|provider/i);
  });

  it('takes nothing from the bytes of what was said', () => {
    const input = '{"id":12345678901234567890}';
    const body = JSON.stringify(native).replace('"input":{}', `"input":${input}`);
    expect(wholeOf(relayNativeAnswer(Buffer.from(body), 'm'))).toContain(input);
  });

  it('is not in a chat stream, wherever it stands there', () => {
    const say = chatOf({ delta: { content: 'Hi' } });
    const { provider, choices } = say;
    const text = streamOf(
      createChatRelay('m', CONTEXT, AS_IT_IS),
      `${write(say, say, { choices, provider }, { choices: [], provider, usage: CHAT_USAGE })}data: [DONE]\n\n`,
    );
    expect(text.match(/"content":"Hi"/g)).toHaveLength(3);
    expect(text).toContain('"audio_tokens":1');
    expect(text).not.toMatch(/cost|byok|provider/i);
  });
});
