import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';
import type { ContentBlock } from '../../../../../src/protocol/inference.ts';

const text = (said: string) => ({ type: 'text', text: said });
const user = { role: 'user', content: 'Hello' };
const call = (id: string, json = '{}') => ({
  id,
  type: 'function',
  function: { name: 'find', arguments: json },
});
const toolUse = (id: string, input: object = {}) => ({
  type: 'tool_use',
  id,
  name: 'find',
  input,
});
const result = (id: string, said: string) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: [text(said)],
});
const toolMessage = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content });

function decode(...messages: readonly unknown[]) {
  return chatFormat.decodeRequest({ model: 'opus', messages }, () => undefined).request;
}

describe('instructions', () => {
  it.each<[string, readonly unknown[], string | undefined]>([
    ['none', [user], undefined],
    ['one', [{ role: 'system', content: 'a' }, user], 'a'],
    [
      'of both roles, anywhere, in their order',
      [{ role: 'developer', content: 'a' }, user, { role: 'system', content: 'b' }],
      'a\nb',
    ],
    ['in parts', [{ role: 'system', content: [text('a'), text('b')] }, user], 'a\nb'],
    ['that say nothing', [{ role: 'system', content: ' ' }, user], undefined],
  ])('become one system prompt [%s]', (_name, messages, expected) => {
    expect(decode(...messages)).toMatchObject({ messages: [user], system: expected });
  });
});

describe('a conversation that ends with the assistant', () => {
  const said = { role: 'assistant', content: 'a' };
  const saidNatively = { role: 'assistant', content: [text('a')] };

  it.each<[string, readonly unknown[]]>([
    ['', [user, said]],
    ['before a blank message of the user', [user, said, { role: 'user', content: ' ' }]],
    ['before an instruction', [user, said, { role: 'system', content: 'b' }]],
    [
      'that would go on if nothing came',
      [user, { ...said, prefix: true }, { ...user, content: '' }],
    ],
  ])('goes on with a user %s', (_name, messages) => {
    const goOn = { role: 'user', content: 'Go on.' };
    expect(decode(...messages).messages).toEqual([user, saidNatively, goOn]);
  });

  it.each([
    ['prefix', { messages: [user, { ...said, prefix: true }] }],
    ['partial', { messages: [user, { ...said, partial: true }] }],
    ['continue_final_message', { messages: [user, said], continue_final_message: true }],
  ])('stays as it is if the model is to go on from there [%s]', (_name, fields) => {
    const { request } = chatFormat.decodeRequest({ model: 'opus', ...fields }, () => undefined);
    expect(request.messages).toEqual([user, saidNatively]);
  });
});

describe('messages', () => {
  it.each<[string, readonly unknown[], readonly unknown[]]>([
    [
      'user parts',
      [{ role: 'user', content: [text('a'), text(''), text('b')] }],
      [{ role: 'user', content: [text('a'), text('b')] }],
    ],
    ['user text of nothing', [user, { role: 'user', content: '' }], [user]],
    ['user parts of nothing', [user, { role: 'user', content: [text(' ')] }], [user]],
    ['users in a row', [user, user], [user, user]],
    [
      'assistant text',
      [user, { role: 'assistant', content: 'a' }, user],
      [user, { role: 'assistant', content: [text('a')] }, user],
    ],
    [
      'assistant parts',
      [user, { role: 'assistant', content: [text('a'), { type: 'refusal', refusal: 'no' }] }, user],
      [user, { role: 'assistant', content: [text('a')] }, user],
    ],
    ['assistant of nothing', [user, { role: 'assistant', content: '' }], [user]],
    ['assistant without content', [user, { role: 'assistant' }], [user]],
    ['assistant that only refused', [user, { role: 'assistant', refusal: 'no' }], [user]],
    [
      'text and calls',
      [
        user,
        { role: 'assistant', content: 'a', tool_calls: [call('t1', '{"x":1}'), call('t2', '')] },
        user,
      ],
      [
        user,
        { role: 'assistant', content: [text('a'), toolUse('t1', { x: 1 }), toolUse('t2')] },
        user,
      ],
    ],
    [
      'results in a row',
      [
        { role: 'assistant', content: null, tool_calls: [call('t1'), call('t2')] },
        toolMessage('t1', 'a'),
        toolMessage('t2', [text('b')]),
      ],
      [
        { role: 'assistant', content: [toolUse('t1'), toolUse('t2')] },
        { role: 'user', content: [result('t1', 'a'), result('t2', 'b')] },
      ],
    ],
    [
      'images of a result',
      [
        toolMessage('t1', [
          text('a'),
          { type: 'image_url', image_url: { url: 'https://h/a.png' } },
        ]),
      ],
      [
        {
          role: 'user',
          content: [
            {
              ...{ type: 'tool_result', tool_use_id: 't1' },
              content: [
                text('a'),
                { type: 'image', source: { type: 'url', url: 'https://h/a.png' } },
              ],
            },
          ],
        },
      ],
    ],
    [
      'what the user says after results',
      [toolMessage('t1', 'a'), user, { role: 'user', content: [text('b')] }],
      [{ role: 'user', content: [result('t1', 'a'), text('Hello'), text('b')] }],
    ],
    [
      'what the user says between results',
      [toolMessage('t1', 'a'), user, toolMessage('t2', 'b')],
      [{ role: 'user', content: [result('t1', 'a'), result('t2', 'b'), text('Hello')] }],
    ],
    [
      'results on both sides of a turn',
      [
        toolMessage('t1', 'a'),
        { role: 'assistant', tool_calls: [call('t2')] },
        toolMessage('t2', 'b'),
      ],
      [
        { role: 'user', content: [result('t1', 'a')] },
        { role: 'assistant', content: [toolUse('t2')] },
        { role: 'user', content: [result('t2', 'b')] },
      ],
    ],
    [
      'results of nothing',
      [toolMessage('t1', '')],
      [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: '' }] }],
    ],
    [
      'calls of the deprecated kind, one after the other',
      [
        { role: 'assistant', content: null, function_call: { name: 'find', arguments: '{}' } },
        { role: 'function', name: 'find', content: 'a' },
        { role: 'assistant', content: null, function_call: { name: 'find', arguments: '{}' } },
        { role: 'function', name: 'find', content: null },
      ],
      [
        { role: 'assistant', content: [toolUse('function_call_0')] },
        { role: 'user', content: [result('function_call_0', 'a')] },
        { role: 'assistant', content: [toolUse('function_call_2')] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'function_call_2', content: '' }],
        },
      ],
    ],
  ])('become native ones [%s]', (_name, messages, expected) => {
    expect(decode(...messages).messages).toEqual(expected);
  });

  it.each([
    [
      'in each turn',
      [
        { role: 'assistant', tool_calls: [call('t'), call('u')] },
        toolMessage('u', 'b'),
        toolMessage('t', 'a'),
        { role: 'assistant', tool_calls: [call('t')] },
        toolMessage('t', 'c'),
        user,
        { role: 'assistant', tool_calls: [call('t')] },
        toolMessage('t', 'd'),
      ],
      [
        { role: 'assistant', content: [toolUse('t'), toolUse('u')] },
        { role: 'user', content: [result('u', 'b'), result('t', 'a')] },
        { role: 'assistant', content: [toolUse('t_1')] },
        { role: 'user', content: [result('t_1', 'c'), text('Hello')] },
        { role: 'assistant', content: [toolUse('t_2')] },
        { role: 'user', content: [result('t_2', 'd')] },
      ],
    ],
    [
      'twice in one turn',
      [
        { role: 'assistant', tool_calls: [call('t'), call('t')] },
        toolMessage('t', 'a'),
        toolMessage('t', 'b'),
      ],
      [
        { role: 'assistant', content: [toolUse('t'), toolUse('t_1')] },
        { role: 'user', content: [result('t', 'a'), result('t_1', 'b')] },
      ],
    ],
  ])('have calls with ids of their own where one comes %s', (_name, messages, expected) => {
    expect(decode(...messages).messages).toEqual(expected);
  });

  it('may have the same id of a call any number of times', () => {
    const count = 10_000;
    const calls = Array<unknown>(count).fill(call('t'));
    const results = Array<unknown>(count).fill(toolMessage('t', 'a'));
    const { messages } = decode({ role: 'assistant', tool_calls: calls }, ...results);
    const [made, answered] = messages.map(({ content }) => content as readonly ContentBlock[]);
    const ids = made?.map((block) => (block.type === 'tool_use' ? block.id : ''));
    expect(new Set(ids).size).toBe(count);
    expect(
      answered?.map((block) => (block.type === 'tool_result' ? block.tool_use_id : '')),
    ).toEqual(ids);
  });

  it.each([
    ['image/png', 'data:image/png;base64,AAAA'],
    ['image/jpeg', 'data:image/jpg;base64,AAAA'],
    ['image/webp', 'DATA:image/WEBP;name=a.webp;base64,AAAA'],
  ])('hold images by value [%s of %s]', (mediaType, url) => {
    const image = { type: 'image_url', image_url: { url } };
    expect(decode({ role: 'user', content: [image] }).messages[0]?.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: mediaType, data: 'AAAA' } },
    ]);
  });

  it('may be more than fit into the arguments of a function', () => {
    const parts = Array.from({ length: 200_000 }, () => text('a'));
    const messages = [
      { role: 'system', content: parts },
      toolMessage('t1', 'a'),
      { role: 'user', content: parts },
    ];
    expect(decode(...messages).messages[0]?.content).toHaveLength(200_001);
  });
});
