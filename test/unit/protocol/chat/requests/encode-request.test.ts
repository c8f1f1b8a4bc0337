import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';
import { encodeChatRequest } from '../../../../../src/protocol/chat/requests/encode-request.ts';
import { Refusal } from '../../../../../src/protocol/refusals.ts';
import type { UpstreamCall } from '../../../../../src/protocol/upstream-call.ts';
import {
  assistant,
  cached,
  image,
  MESSAGES,
  text,
  tool,
  user,
} from '../../native/request-parts.ts';
import { callOf } from '../../upstream-requests.ts';

type Json = Readonly<Record<string, unknown>>;

const encodeCall = (call: UpstreamCall): Json =>
  JSON.parse(encodeChatRequest(call, 'vendor-name', 'max_completion_tokens'));
const encode = (body: Json, fields: Partial<UpstreamCall> = {}) => encodeCall(callOf(body, fields));
const messagesOf = (...messages: unknown[]) => encode({ messages })['messages'];

const use = (id: string, input = {}) => ({ type: 'tool_use', id, name: 'look', input });
const result = (id: string, fields: Json) => ({ type: 'tool_result', tool_use_id: id, ...fields });
const call = (id: string, json = '{}') => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: json },
});
const PNG = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };

const SAID = 'x'.repeat(30);
const SYSTEM = { role: 'system', content: SAID };
/** To join them anew for each of them would take half a minute and more. */
const NUMBERS = Array.from({ length: 49_000 }, (_, i) => `${i}`);
const CALLS = assistant(...NUMBERS.map((id) => use(id)));
const SILENT = NUMBERS.map(() => [SYSTEM, user({ type: 'thinking', thinking: '', signature: '' })]);
const RESULTS = NUMBERS.map((id) => [user(result(id, {})), SYSTEM]);

describe('the body for a chat upstream', () => {
  it.each([
    ['minimal', 'minimal'],
    ['max', 'xhigh'],
  ])('asks for the effort %s as %s', (effort, asked) => {
    const accepts = new Set<'effort'>(['effort']);
    const body = encode({ output_config: { effort } }, { accepts });
    expect(body['reasoning_effort']).toBe(asked);
  });

  it('has nothing in it that was not said', () => {
    expect(encode({ max_tokens: 9 })).toEqual({
      model: 'vendor-name',
      messages: MESSAGES,
      max_completion_tokens: 9,
      stream: false,
    });
  });

  it('names the limit as its upstream knows it', () => {
    const call9 = callOf({}, { outputTokensMax: 9 });
    expect(JSON.parse(encodeChatRequest(call9, 'm', 'max_tokens'))).toMatchObject({
      max_tokens: 9,
    });
    expect(encodeChatRequest(call9, 'm', 'max_tokens')).not.toContain('max_completion_tokens');
  });

  it('always asks a stream for its usage', () => {
    expect(encode({}, { isStream: true })).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(encode({ stream: true })).not.toHaveProperty('stream_options');
  });

  it('says of the sampling what can be said', () => {
    const body = { temperature: 0.5, top_p: 0.9, top_k: 5, stop_sequences: ['END'] };
    expect(encode(body)).toMatchObject({ temperature: 0.5, top_p: 0.9, stop: ['END'] });
    expect(encode(body)).not.toHaveProperty('top_k');
  });

  it('says who the user is, as far as that may be said', () => {
    expect(encode({ metadata: { user_id: 'u'.repeat(150) } })['user']).toBe('u'.repeat(64));
  });

  it('asks for JSON as it was asked', () => {
    const schema = { type: 'object' };
    const output = encode({ output_config: { format: { type: 'json_schema', schema } } });
    expect(output['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { name: expect.any(String), schema },
    });
    const { request } = chatFormat.decodeRequest(
      { model: 'm', messages: MESSAGES, response_format: { type: 'json_object' } },
      () => undefined,
    );
    const asked = encodeCall({ request, outputTokensMax: 1, isStream: false });
    expect(asked['response_format']).toEqual({ type: 'json_object' });
  });
});

describe('the messages for a chat upstream', () => {
  it('begin with the system prompt', () => {
    const system = [text('Be brief.', cached()), text('Be kind.')];
    expect(encode({ system })['messages']).toEqual([
      { role: 'system', content: 'Be brief.\nBe kind.' },
      ...MESSAGES,
    ]);
    expect(encode({ system: '' })['messages']).toEqual(MESSAGES);
  });

  it('take as many system messages as there may be into one message of the user', () => {
    const messages = [user(text('a'), text('b')), ...NUMBERS.map(() => SYSTEM)];
    const said = NUMBERS.map(() => text(SAID));
    expect(encode({ messages })['messages']).toEqual([user(text('a'), text('b'), ...said)]);
  });

  it.each([
    ['a text', [user(text('Hi'))], SILENT],
    ['parts', [user(text('Hi'), text('all'))], SILENT],
    ['results', [user(text('Hi')), CALLS], RESULTS],
  ])(
    'join as many system messages as may stand behind %s',
    (_, first, others) => {
      const asked = callOf({ messages: [...first, ...others.flat()] });
      const body = encodeChatRequest(asked, 'vendor-name', 'max_tokens');
      expect(body.split(SAID)).toHaveLength(others.length + 1);
    },
    30_000,
  );

  it('have one system message, as many models take no other, and what comes later from the user', () => {
    const system = (...content: unknown[]) => ({ role: 'system', content });
    const messages = [
      system(text('Be kind.')),
      user(text('Hi'), image('image/png', 'aGk=')),
      system(text('Mind'), text('the gap.')),
      assistant(use('a')),
      user(result('a', { content: 'A' })),
      system(text('Mind the tests.')),
    ];
    expect(encode({ system: 'Be brief.', messages })['messages']).toEqual([
      { role: 'system', content: 'Be brief.\nBe kind.' },
      user(text('Hi'), PNG, text('Mind\nthe gap.')),
      { role: 'assistant', content: null, tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'user', content: 'Mind the tests.' },
    ]);
  });

  it('have text and images as parts, in their order', () => {
    const url = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    expect(messagesOf(user(text('See'), image('image/png', 'aGk='), text('and'), url))).toEqual([
      user(text('See'), PNG, text('and'), {
        type: 'image_url',
        image_url: { url: 'https://example.com/a.png' },
      }),
    ]);
    expect(messagesOf(user(text('Hi', cached())))).toEqual([{ role: 'user', content: 'Hi' }]);
  });

  it('have one message for all that a user says in a row', () => {
    const [hi, png] = [user(text('Hi')), user(image('image/png', 'aGk='))];
    expect(messagesOf(hi, png, hi)).toEqual([user(text('Hi'), PNG, text('Hi'))]);
  });

  it('have documents and findings as text', () => {
    const plain = { type: 'text', media_type: 'text/plain', data: 'Body' };
    const content = { type: 'content', content: [text('One'), text('Two')] };
    const found = { type: 'search_result', title: 'S', source: 'https://x', content: [text('F')] };
    expect(
      messagesOf(
        user(
          { type: 'document', source: plain, title: 'T', context: 'C' },
          { type: 'document', source: content },
          found,
        ),
      ),
    ).toEqual([user(text('T\nC\nBody'), text('One\nTwo'), text('S\nhttps://x\nF'))]);
  });

  it('have calls with the text before them, and no thoughts', () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
    const hidden = { type: 'redacted_thinking', data: 'aGlk' };
    expect(
      messagesOf(
        ...MESSAGES,
        assistant(thought, hidden),
        assistant(text('\n\n')),
        assistant(thought, text('Let me '), text('look.'), use('a', { x: 1 }), use('b')),
        user(result('a', {}), result('b', { content: 'B' })),
      ),
    ).toEqual([
      ...MESSAGES,
      { role: 'assistant', content: 'Let me look.', tool_calls: [call('a', '{"x":1}'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
    ]);
  });

  it('have results right behind their calls, whatever else is said between them', () => {
    expect(
      messagesOf(
        ...MESSAGES,
        assistant(use('a'), use('b')),
        user(text('First')),
        { role: 'system', content: 'Aside' },
        user(text('Then'), result('b', { content: [text('B1'), text('B2')] })),
        user(result('a', { content: 'A', is_error: true }), text('Last')),
      ),
    ).toEqual([
      ...MESSAGES,
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'b', content: 'B1\nB2' },
      { role: 'tool', tool_call_id: 'a', content: 'Error: A' },
      { role: 'user', content: 'First\n\nAside\n\nThen\n\nLast' },
    ]);
  });

  it('have the images of a result shown by the user, as a tool can only speak', () => {
    const content = [text('Here'), image('image/png', 'aGk=')];
    expect(
      messagesOf(...MESSAGES, assistant(use('a')), user(result('a', { content }), text('And?'))),
    ).toEqual([
      ...MESSAGES,
      { role: 'assistant', content: null, tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: 'Here' },
      user(text('Shown by the call a:'), PNG, text('And?')),
    ]);
  });

  it('have no place for what only others can read', () => {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
    const file = { type: 'file', file_id: 'file_1' };
    const kinds: [unknown, string][] = [
      [{ type: 'document', source: pdf }, 'PDFs'],
      [
        { type: 'document', source: { type: 'content', content: [file] } },
        'documents by `content`',
      ],
      [{ type: 'image', source: file }, 'images by `file`'],
      [{ type: `tomorrow${'x'.repeat(1_000)}` }, 'blocks of type `tomorrow'],
    ];
    for (const [block, what] of kinds) {
      const refuse = () => messagesOf(user(text('See'), block));
      expect(refuse).toThrow(
        expect.objectContaining({
          refusal: 'invalid_request',
          param: 'messages.0.content.1',
          message: expect.stringMatching(
            /^messages\.0\.content\.1: this model does not take .{1,150}$/,
          ),
        }),
      );
      expect(refuse).toThrow(what);
    }
    const searched = assistant({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} });
    expect(() => messagesOf(...MESSAGES, searched)).toThrow(Refusal);
    const shown = user(result('a', { content: [{ type: 'document', source: pdf }] }));
    expect(() => messagesOf(...MESSAGES, assistant(use('a')), shown)).toThrow(
      'messages.2.content.0.content.0',
    );
  });
});

describe('the tools for a chat upstream', () => {
  const find = { ...tool('find'), description: 'Finds.', type: 'custom', ...cached() };

  it('are functions', () => {
    expect(encode({ tools: [find, tool('stop')] })['tools']).toEqual([
      {
        type: 'function',
        function: { name: 'find', description: 'Finds.', parameters: { type: 'object' } },
      },
      { type: 'function', function: { name: 'stop', parameters: { type: 'object' } } },
    ]);
  });

  it.each([
    [{ type: 'auto' }, { tool_choice: 'auto' }],
    [{ type: 'none' }, { tool_choice: 'none' }],
    [
      { type: 'any', disable_parallel_tool_use: true },
      { tool_choice: 'required', parallel_tool_calls: false },
    ],
    [
      { type: 'tool', name: 'find', disable_parallel_tool_use: false },
      { tool_choice: { type: 'function', function: { name: 'find' } } },
    ],
  ])('are chosen as they were: %j', (choice, expected) => {
    const { tool_choice, parallel_tool_calls } = encode({ tools: [find], tool_choice: choice });
    expect({ tool_choice, parallel_tool_calls }).toEqual(expected);
  });

  it('are none that only the models of one vendor know', () => {
    expect(() => encode({ tools: [find, { type: 'bash_20250124', name: 'bash' }] })).toThrow(
      'tools.1: this model does not take tools of type `bash_20250124`',
    );
  });
});
