import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../src/protocol/chat/chat-format.ts';
import { encodeChatRequest } from '../../../src/protocol/chat/requests/encode-request.ts';
import type { InferenceRequest } from '../../../src/protocol/inference.ts';
import { encodeNativeRequest } from '../../../src/protocol/native/requests/encode-request.ts';
import { encodeResponsesRequest } from '../../../src/protocol/responses/requests/encode-request.ts';
import { responsesFormat } from '../../../src/protocol/responses/responses-format.ts';
import type { OptionalFeature, UpstreamCall } from '../../../src/protocol/upstream-call.ts';
import { assistant, BODY, text, user } from './native/request-parts.ts';
import { decodeNative } from './upstream-requests.ts';

type Json = Readonly<Record<string, unknown>>;

const noHeader = () => undefined;
const chat = (body: Json) => chatFormat.decodeRequest({ model: 'm', ...body }, noHeader).request;
const messages = [{ role: 'user', content: 'Hi' }];

const REQUESTS: Readonly<Record<string, InferenceRequest>> = {
  native: decodeNative({ ...BODY, thinking: { type: 'disabled' } }),
  chat: chat({ messages, reasoning_effort: 'none' }),
  responses: responsesFormat.decodeRequest(
    { model: 'm', input: 'Hi', reasoning: { effort: 'none' } },
    noHeader,
  ).request,
};
const encoders: Readonly<Record<string, (call: UpstreamCall) => string>> = {
  native: (call) => encodeNativeRequest(call, 'm'),
  chat: (call) => encodeChatRequest(call, 'm', 'max_tokens'),
  responses: (call) => encodeResponsesRequest(call, 'm'),
};

function encode(kind: string, request: InferenceRequest | undefined, ...taken: OptionalFeature[]) {
  if (request === undefined) throw new Error('no such request');
  const call = { request, outputTokensMax: 9_000, isStream: false, accepts: new Set(taken) };
  return JSON.parse(encoders[kind]?.(call) ?? '');
}

describe('a client that wants no thinking', () => {
  const off = { type: 'disabled' };
  it.each([
    ['chat', 'native', { thinking: off }],
    ['responses', 'native', { thinking: off }],
    ['native', 'chat', { reasoning_effort: 'none' }],
    ['responses', 'chat', { reasoning_effort: 'none' }],
    ['native', 'responses', { reasoning: { effort: 'none' } }],
    ['chat', 'responses', { reasoning: { effort: 'none' } }],
  ])('gets none where it can be said: %s at %s', (format, kind, said) => {
    const request = REQUESTS[format];
    const bare = encode(kind, request, 'effort');
    expect(bare).not.toHaveProperty(Object.keys(said));
    expect(encode(kind, request, 'effort', 'no_thinking')).toEqual({ ...bare, ...said });
  });
});

describe('calls that came without thoughts, for a native model that may be told not to think', () => {
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
  const thoughtless = { role: 'assistant', content: null, tool_calls: [call] };
  const result = { role: 'tool', tool_call_id: 'a', content: 'Seen' };
  const body = { messages: [...messages, thoughtless, result], reasoning_effort: 'high' };

  it('are not thought about, and without an effort', () => {
    const sent = encode('native', chat(body), 'effort', 'no_thinking');
    expect(sent.thinking).toEqual({ type: 'disabled' });
    expect(sent).not.toHaveProperty('output_config');
  });

  it('may be of an earlier turn', () => {
    const more = [...body.messages, { role: 'assistant', content: 'So' }, ...messages];
    const sent = encode('native', chat({ messages: more }), 'no_thinking');
    expect(sent.thinking).toEqual({ type: 'disabled' });
  });

  it('end the thinking of a Responses client too, in the middle of a turn', () => {
    const calls = ['a', 'b'].map((id) => [
      { type: 'function_call', call_id: id, name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: id, output: 'Seen' },
    ]);
    const thought = { type: 'reasoning', summary: [], encrypted_content: 'signed' };
    const { request } = responsesFormat.decodeRequest(
      { model: 'm', input: [...messages, thought, ...calls.flat()], reasoning: { effort: 'high' } },
      noHeader,
      { openThought: (signature) => ({ type: 'thinking', thinking: 'Hm.', signature }) },
    );
    const sent = encode('native', request, 'effort', 'no_thinking');
    expect(sent.thinking).toEqual({ type: 'disabled' });
    expect(JSON.stringify(sent.messages)).toContain('"signature":"signed"');
  });

  it('change nothing before the first of them, or for other models', () => {
    expect(encode('native', chat({ messages }), 'no_thinking')).not.toHaveProperty('thinking');
    const sent = encode('native', chat(body), 'effort');
    expect(sent).not.toHaveProperty('thinking');
    expect(sent.output_config).toEqual({ effort: 'high' });
  });

  it.each([
    ['adaptive', 'no_thinking'],
    ['disabled', 'pdf'],
  ] as const)(
    'may be those of a native client (%s, %s) that has thoughts of a chat upstream',
    (type, taken) => {
      const unsigned = { type: 'thinking', thinking: 'Hm.', signature: 'tollgate' };
      const request = decodeNative({
        ...{ ...BODY, max_tokens: 9_000, thinking: { type } },
        output_config: { effort: 'high' },
        messages: [
          user(text('Hi')),
          assistant(unsigned, { type: 'tool_use', id: 'a', name: 'look', input: {} }),
          user({ type: 'tool_result', tool_use_id: 'a', content: 'Seen' }),
        ],
      });
      const sent = encode('native', request, taken);
      expect(sent.thinking).toEqual({ type: 'disabled' });
      expect(sent.output_config?.effort).toBeUndefined();
    },
  );
});
