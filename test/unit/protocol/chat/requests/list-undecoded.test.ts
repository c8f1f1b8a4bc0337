import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../../../src/catalogue/estimate-tokens.ts';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';
import { refuseLongCache } from '../../../../../src/protocol/fields/refuse-long-cache.ts';

const minimal = { model: 'opus', messages: [{ role: 'user', content: 'Hello' }] };

describe('what only a chat upstream reads', () => {
  const decode = (fields: object) =>
    chatFormat.decodeRequest({ ...minimal, ...fields }, () => undefined).request;
  const estimate = (fields: object) => estimateTokens(decode(fields), 3);
  const boundOf = (fields: object) => {
    const { likely, unsure } = estimate(fields);
    return likely + unsure;
  };
  const long = 'word '.repeat(3_000);
  const user = { role: 'user', content: 'Hi' };
  const tool = { type: 'function', function: { name: 'a' } };
  const file = { file_data: 'data:application/pdf;base64,JVBERi0xLjQK' };
  const callOf = (said: string) => ({
    role: 'assistant',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'a', arguments: said } }],
  });
  const cases: readonly [string, object][] = [
    [
      'thoughts of before',
      { messages: [user, { role: 'assistant', content: 'So', reasoning_content: long }] },
    ],
    ['a name', { messages: [{ ...user, name: long }] }],
    ['white space', { messages: [user, { role: 'user', content: ' '.repeat(15_000) }] }],
    [
      'a refusal',
      { messages: [user, { role: 'assistant', content: [{ type: 'refusal', refusal: long }] }] },
    ],
    [
      'something in a part',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', more: long }] }] },
    ],
    ['something in a tool', { tools: [{ ...tool, function: { name: 'a', more: long } }] }],
    [
      'a tool that is not to be called',
      {
        tools: [{ ...tool, function: { name: 'a', description: long } }],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } },
      },
    ],
    [
      'what a schema says of itself',
      { response_format: { type: 'json_schema', json_schema: { name: 'a', description: long } } },
    ],
    [
      'the name of a file',
      {
        messages: [
          { role: 'user', content: [{ type: 'file', file: { ...file, filename: long } }] },
        ],
      },
    ],
    ['what its template reads', { chat_template_kwargs: { documents: [long] } }],
    ['a call with wide gaps', { messages: [user, callOf(`{"a":${' '.repeat(15_000)}1}`)] }],
    ['a call that says a name twice', { messages: [user, callOf(`{"a":"${long}","a":1}`)] }],
    ['a field of tomorrow', { of_tomorrow: { more: [long] } }],
  ];
  for (const [name, fields] of cases) {
    it(`is counted: ${name}`, () => {
      expect(boundOf(fields) - boundOf({})).toBeGreaterThanOrEqual(5_000);
    });
  }

  it('is not an image of a tool, which counts as one of a user', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const looked = { role: 'tool', tool_call_id: 'c', content: [image] };
    const told = estimate({ messages: [user, callOf('{}'), looked] });
    expect(told.files).toMatchObject({ images: 1 });
    const shown = { role: 'user', content: [image] };
    const messages = [user, callOf('{}'), { ...looked, content: '' }, shown];
    expect(Math.abs(told.likely - estimate({ messages }).likely)).toBeLessThan(50);
  });

  it('is held at the price of the cache where it is to be written there', () => {
    const control = { type: 'ephemeral' };
    const part = { type: 'text', text: 'Hi', cache_control: control };
    expect(estimate({}).cacheWrite).toBeUndefined();
    expect(estimate({ cache_control: control }).cacheWrite).toBe('5m');
    expect(estimate({ messages: [{ role: 'user', content: [part] }] }).cacheWrite).toBe('5m');
  });

  it('is not to be kept for an hour, which no chat upstream distinguishes', () => {
    const control = (ttl: string) => ({ cache_control: { type: 'ephemeral', ttl } });
    expect(() => refuseLongCache(decode(control('5m')))).not.toThrow();
    expect(() => refuseLongCache(decode(control('1h')))).toThrow('cache_control.ttl');
    const part = { type: 'text', text: 'Hi', ...control('1h') };
    const messages = [{ role: 'user', content: [part] }];
    expect(() => refuseLongCache(decode({ messages }))).toThrow('cache_control.ttl');
  });

  it('is no sound that a vendor would have to remember', () => {
    const spoken = { role: 'assistant', content: 'So', audio: { id: 'audio_1' } };
    expect(() => estimate({ messages: [user, spoken] })).toThrow('messages[1].audio');
  });
});
