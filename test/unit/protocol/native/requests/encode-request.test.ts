import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';
import { readJsonBody } from '../../../../../src/protocol/json/parse-json-body.ts';
import { nativeFormat } from '../../../../../src/protocol/native/native-format.ts';
import { encodeNativeRequest } from '../../../../../src/protocol/native/requests/encode-request.ts';
import { spliceNativeRequest } from '../../../../../src/protocol/native/requests/splice-request.ts';
import type { UpstreamCall } from '../../../../../src/protocol/upstream-call.ts';
import { callOf, decodeNative, readBodies } from '../../upstream-requests.ts';
import { assistant, cached, text, user } from '../request-parts.ts';

const encode = (call: UpstreamCall): Record<string, unknown> =>
  JSON.parse(encodeNativeRequest(call, 'vendor-name'));

const chatCall = (body: Record<string, unknown>): UpstreamCall => {
  const messages = [{ role: 'user', content: 'Hello' }];
  const { request } = chatFormat.decodeRequest(
    { model: 'opus', messages, ...body },
    () => undefined,
  );
  return { request, outputTokensMax: 100, isStream: false };
};

describe('the body for a native upstream', () => {
  for (const [name, body] of readBodies('native')) {
    it(`is what came, with the name of the upstream's model: ${name}`, () => {
      const isStream = body['stream'] === true;
      const source = readJsonBody(Buffer.from(JSON.stringify(body)));
      const accepts = new Set(['system_messages' as const]);
      const said = Object.entries(encode(callOf(body, { isStream, source, accepts })));
      const expected = Object.entries({ ...body, model: 'vendor-name', stream: isStream });
      const isSaid = ([, value]: [string, unknown]) =>
        value !== null && !(Array.isArray(value) && value.length === 0);
      expect(Object.fromEntries(said.filter(isSaid))).toEqual(
        Object.fromEntries(expected.filter(isSaid)),
      );
    });
  }

  it('says nothing of sampling for clients that leave it unset in numbers', () => {
    const said = encode(callOf({ top_p: -1, top_k: -1 }));
    expect(said).not.toHaveProperty('top_p');
    expect(said).not.toHaveProperty('top_k');
  });

  it('keeps cache markers and fields that nobody here knows', () => {
    const body = {
      system: [text('Be brief.', cached('1h'))],
      messages: [user(text('Hi', { ...cached(), of_tomorrow: 1 }))],
      context_management: { edits: [] },
      cache_control: { type: 'ephemeral' },
    };
    expect(encode(callOf(body))).toMatchObject(body);
  });

  it('has the system speak as a user where the model takes no system among its messages', () => {
    const use = { type: 'tool_use', id: 'a', name: 'look', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'a', content: 'Seen' };
    const system = (said: string, more = {}) => ({ role: 'system', content: [text(said, more)] });
    const messages = [
      user(text('Hi')),
      system('Mind the gap.', cached()),
      assistant(use),
      system('Mind the tests.'),
      user(result),
      assistant(text('So')),
      system('Go on.'),
    ];
    expect(encode(callOf({ messages }))['messages']).toEqual([
      user(text('Hi')),
      user(text('Mind the gap.', cached())),
      assistant(use),
      user(result),
      user(text('Mind the tests.')),
      assistant(text('So')),
      user(text('Go on.')),
    ]);
    const accepts = new Set(['system_messages' as const]);
    expect(encode(callOf({ messages }, { accepts }))['messages']).toEqual(messages);
  });

  it('asks for as much as may be given, streamed or not as the gateway likes it', () => {
    const call = callOf({ stream: true }, { outputTokensMax: 7, isStream: false });
    expect(encode(call)).toMatchObject({ max_tokens: 7, stream: false });
  });

  it('has nothing in it that was not said', () => {
    expect(Object.keys(encode(callOf({}))).sort()).toEqual([
      'max_tokens',
      'messages',
      'model',
      'stream',
    ]);
  });
});

describe('what chat clients ask for', () => {
  it('says of sampling one thing, and nothing to models that sample in their own way', () => {
    const both = chatCall({ temperature: 0.5, top_p: 0.9 });
    expect(encode(both)).toMatchObject({ temperature: 0.5 });
    expect(encode(both)).not.toHaveProperty('top_p');
    expect(encode(chatCall({ top_p: 0.9 }))).toMatchObject({ top_p: 0.9 });
    const dropped = Object.keys(encode({ ...both, dropsSampling: true }));
    expect(dropped).not.toContain('temperature');
    expect(dropped).not.toContain('top_p');
  });

  it('stops at each word, and never at white space, which native models refuse', () => {
    const sent = encode(chatCall({ stop: ['END', ' \n'] }));
    expect(sent).toMatchObject({ stop_sequences: ['END'] });
    expect(encode(chatCall({ stop: '\n' }))).not.toHaveProperty('stop_sequences');
  });

  it('is as warm as the native format allows', () => {
    expect(encode(chatCall({ temperature: 1.6 }))).toMatchObject({ temperature: 1 });
    expect(encode(chatCall({ temperature: 0.4 }))).toMatchObject({ temperature: 0.4 });
    expect(encode(chatCall({}))).not.toHaveProperty('temperature');
  });

  it('has its schema in the native place, as far as native models take it', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'integer', description: 'How many', minimum: 1 } },
      required: ['a'],
    };
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
    expect(encode(chatCall({ response_format: format }))).toMatchObject({
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            ...schema,
            properties: { a: { type: 'integer', description: 'How many\n\n{minimum: 1}' } },
            additionalProperties: false,
          },
        },
      },
    });
  });

  it('is said in words where it is any JSON', () => {
    const format = { response_format: { type: 'json_object' } };
    const said = encode(chatCall(format));
    expect(said['system']).toContain('JSON object');
    expect(said).not.toHaveProperty('output_config');
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ];
    expect(encode(chatCall({ ...format, messages }))['system']).toBe(
      `Be brief.\n${said['system']}`,
    );
  });

  it('is a request that a native decoder takes', () => {
    for (const [name, body] of readBodies('chat')) {
      const call = chatCall(body);
      const sent = JSON.parse(encodeNativeRequest(call, 'vendor-name'));
      const { request } = call;
      expect(decodeNative(sent), name).toMatchObject({
        messages: request.messages,
        tools: request.tools,
        stopSequences: request.stopSequences.filter((stop) => stop.trim() !== ''),
      });
    }
  });
});

describe('a conversation that went through other upstreams', () => {
  const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'Seen' });
  const unsigned = { type: 'thinking', thinking: 'Hm.', signature: '' };
  const signed = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };

  it('loses thoughts that nobody signed, and messages with nothing else in them', () => {
    const messages = [
      user(text('Hi')),
      assistant(unsigned, text('So')),
      assistant(unsigned),
      assistant(signed, text('Well')),
    ];
    expect(encode(callOf({ messages }))['messages']).toEqual([
      user(text('Hi')),
      assistant(text('So')),
      assistant(signed, text('Well')),
    ]);
  });

  it('loses what a model wrote and nobody can see', () => {
    const messages = [
      user(text('Hi')),
      assistant(text('\n\n'), use('a')),
      user(result('a')),
      assistant(text(''), text(' ')),
      user(text('And?')),
    ];
    expect(encode(callOf({ messages }))['messages']).toEqual([
      user(text('Hi')),
      assistant(use('a')),
      user(result('a')),
      user(text('And?')),
    ]);
  });

  it('loses a message of a model that is nothing but white space', () => {
    const messages = [user(text('Hi')), { role: 'assistant', content: '\n' }, user(text('Well?'))];
    const left = [messages[0], messages[2]];
    expect(encode(callOf({ messages }))['messages']).toEqual(left);
    const source = readJsonBody(Buffer.from(JSON.stringify({ messages })));
    expect(spliceNativeRequest(callOf({ messages }, { source }), 'vendor-name')).toBeUndefined();
  });

  it('has each id once, also where two are the same to native upstreams', () => {
    const long = 'x'.repeat(300);
    const ids = ['f:1', 'f_1', 'f_1_1', 'f.1', `${long}:1`, `${long}:2`];
    const calls = ids.map((id) => ({
      ...{ id, type: 'function' },
      function: { name: 'look', arguments: '{}' },
    }));
    const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: id }));
    const asked = chatCall({
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', tool_calls: calls },
        ...results,
      ],
    });
    const sent = { ...encode(asked), max_tokens: 5 };
    const header = (name: string) => (name === 'llm-version' ? '2023-06-01' : undefined);
    const { messages } = nativeFormat.decodeRequest(sent, header).request;
    const [made, answered] = [messages[1], messages[2]].map((message) =>
      ((message?.content ?? []) as readonly Record<string, unknown>[]).map(
        (block) => block['id'] ?? block['tool_use_id'],
      ),
    );
    expect(new Set(made).size).toBe(ids.length);
    expect(answered).toEqual(made);
  });

  it('has ids that native upstreams take', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'functions.look:0', type: 'function', function: { name: 'look', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'functions.look:0', content: 'Seen' },
    ];
    expect(encode(chatCall({ messages }))['messages']).toMatchObject([
      { role: 'user' },
      { content: [use('functions_look_0')] },
      { content: [{ ...result('functions_look_0'), content: [{ text: 'Seen' }] }] },
    ]);
  });
});
