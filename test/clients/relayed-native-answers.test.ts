import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText } from 'ai';
import Anthropic from 'anthropic-sdk-1';
import { describe, expect, it } from 'vitest';
import { relayNativeAnswer } from '../../src/protocol/native/answers/decode-answer.ts';
import { createNativeRelay } from '../../src/protocol/native/answers/relay-stream.ts';
import { encodeNativeRequest } from '../../src/protocol/native/requests/encode-request.ts';
import { AS_IT_IS, relayAll } from '../contract/relay-support.ts';
import { callOf } from '../unit/protocol/upstream-requests.ts';

const MODEL = 'llm-pinned';
const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'vendor' };
const USAGE = { input_tokens: 5, output_tokens: 7 };
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'look' };
const ASKED = { model: MODEL, max_tokens: 9, messages: [] };
const RESULT = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain' };

const EVENTS = 'text/event-stream';

/** As Ollama writes it. */
const STREAM = writeStream([
  block(0, { type: 'thinking', thinking: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
  { type: 'content_block_stop', index: 0 },
  block(1, { ...CALL, input: {} }),
  delta(1, { type: 'input_json_delta', partial_json: '{"at":"x"}' }),
  { type: 'content_block_stop', index: 1 },
]);

function writeStream(
  blocks: readonly { readonly type: string; readonly index: number }[],
): Uint8Array {
  const payloads = [
    { type: 'message_start', message: { ...HEAD, content: [], usage: USAGE } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: USAGE },
    { type: 'message_stop' },
  ];
  const frames = payloads.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`);
  return Buffer.from(frames.join(''));
}

function block(index: number, content_block: object) {
  return { type: 'content_block_start', index, content_block };
}

function delta(index: number, piece: object) {
  return { type: 'content_block_delta', index, delta: piece };
}

function answerWith(body: Uint8Array, type: string) {
  return async () => new Response(body.slice(), { headers: { 'content-type': type } });
}

function relayWhole(content: unknown): Uint8Array {
  const answer = { ...HEAD, content, stop_reason: 'end_turn', usage: USAGE };
  const { events, closing } = relayNativeAnswer(Buffer.from(JSON.stringify(answer)), MODEL);
  const finish = events.at(-1);
  const usage = finish?.type === 'finish' ? finish.usage : undefined;
  return (usage && closing?.(usage)) ?? new Uint8Array();
}

describe('thinking that its upstream does not sign', () => {
  it.each(['streamed', 'whole'])('comes back with the next request when it was %s', async (way) => {
    const { bytes } = relayAll(createNativeRelay(MODEL, AS_IT_IS), [STREAM]);
    const whole = relayWhole([
      { type: 'thinking', thinking: 'Hm' },
      { ...CALL, input: { at: 'x' } },
    ]);
    const fetch =
      way === 'whole' ? answerWith(whole, 'application/json') : answerWith(bytes, EVENTS);
    const client = new Anthropic({ apiKey: 'sk-test', fetch });
    const { content } =
      way === 'whole'
        ? await client.messages.create(ASKED)
        : await client.messages.stream(ASKED).finalMessage();
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm', signature: '' },
      { ...CALL, input: { at: 'x' } },
    ]);
    const messages = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content },
      { role: 'user', content: [RESULT] },
    ];
    expect(sendOn(messages)).toEqual([
      messages[0],
      { role: 'assistant', content: [content[1]] },
      messages[2],
    ]);
  });

  it.each([undefined, null, ''])('may come back with the signature %j', (signature) => {
    const thinking = { type: 'thinking', thinking: 'Hm', signature };
    const messages = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: [thinking, { type: 'text', text: 'Gone' }] },
      { role: 'user', content: 'On' },
    ];
    expect(sendOn(messages)).toMatchObject([{}, { content: [{ type: 'text', text: 'Gone' }] }, {}]);
  });
});

describe('thinking that its upstream ends behind its calls', () => {
  const end = (index: number) => ({ type: 'content_block_stop', index });
  const thinking = [
    block(0, { type: 'thinking', thinking: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
  ];
  const call = (index: number, id: string) => [
    block(index, { ...CALL, id, input: {} }),
    delta(index, { type: 'input_json_delta', partial_json: `{"at":"${id}"}` }),
    end(index),
  ];
  const text = [
    block(3, { type: 'text', text: '' }),
    ...['Gone', ' on'].map((piece) => delta(3, { type: 'text_delta', text: piece })),
    end(3),
  ];

  it.each([
    ['with', text],
    ['without', []],
  ])('is read by a real client, %s a text behind it', async (_, blocks) => {
    const calls = [...call(0, 'a'), ...call(1, 'b')];
    const body = writeStream([...thinking, ...calls, end(2), ...blocks]);
    const { bytes, refusal } = relayAll(createNativeRelay(MODEL, AS_IT_IS), [body]);
    expect(refusal).toBeUndefined();
    const client = new Anthropic({ apiKey: 'sk-test', fetch: answerWith(bytes, EVENTS) });
    const { content } = await client.messages.stream(ASKED).finalMessage();
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm', signature: '' },
      { ...CALL, id: 'a', input: { at: 'a' } },
      { ...CALL, id: 'b', input: { at: 'b' } },
      ...(blocks.length === 0 ? [] : [{ type: 'text', text: 'Gone on' }]),
    ]);
  });
});

describe('a whole native answer that clients would stumble over', () => {
  it('is read by a real client', async () => {
    const texts = [{ type: 'text', text: 'Hello', citations: null }];
    const body = relayWhole([{ type: 'thinking', thinking: 'Hm' }, ...texts]);
    const fetch = answerWith(body, 'application/json');
    const model = createAnthropic({ apiKey: 'sk-test', fetch })(MODEL);
    const result = await generateText({ model, prompt: 'Hi' });
    expect([result.reasoningText, result.text]).toEqual(['Hm', 'Hello']);
  });

  it('has a list for a client where its upstream has null for no blocks', async () => {
    const fetch = answerWith(relayWhole(null), 'application/json');
    const client = new Anthropic({ apiKey: 'sk-test', fetch });
    const { content, usage } = await client.messages.create(ASKED);
    expect(content).toEqual([]);
    expect(usage).toMatchObject(USAGE);
  });

  it('keeps unknown fields and long numbers of its blocks', () => {
    const thinking = '{"type":"thinking","thinking":"Hm","of_tomorrow":1}';
    const call = '{"type":"tool_use","id":"a","name":"look","input":{"n":12345678901234567890}}';
    const head = '"id":"msg_1","model":"vendor","usage":{"input_tokens":1,"output_tokens":1}';
    for (const twice of ['', ',"x":1,"x":2']) {
      const body = Buffer.from(`{${head},"content":[${thinking},${call}]${twice}}`);
      const { events, closing } = relayNativeAnswer(body, MODEL);
      const finish = events.at(-1);
      const usage = finish?.type === 'finish' ? finish.usage : undefined;
      const text = Buffer.from((usage && closing?.(usage)) ?? []).toString();
      expect(text).toContain('"of_tomorrow":1,"signature":""');
      if (twice === '') expect(text).toContain('12345678901234567890');
      expect(text.match(/"content":/g)).toHaveLength(1);
    }
  });
});

/** The messages of the request that a native upstream is sent. */
function sendOn(messages: readonly object[]): unknown {
  const sent = JSON.parse(JSON.stringify({ messages }));
  return JSON.parse(encodeNativeRequest(callOf(sent), 'vendor')).messages;
}
