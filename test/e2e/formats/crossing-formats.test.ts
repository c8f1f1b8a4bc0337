import { describe, expect, it } from 'vitest';
import { useCrossing } from '../../support/upstreams/use-crossing.ts';

const { ask, sent } = useCrossing();

const user = (content: unknown, more: object = {}) => ({ role: 'user', content, ...more });
const text = (said: string, more: object = {}) => ({ type: 'text', text: said, ...more });
const ephemeral = { cache_control: { type: 'ephemeral' } };
const forAnHour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const call = (json: string) => ({
  role: 'assistant',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: json } }],
});

describe('arguments of a past tool call that are not a JSON object', () => {
  const ASKED = [user('Look'), { role: 'tool', tool_call_id: 'call_1', content: 'Not JSON' }];

  it.each(['{"path": "a', '[1]', 'null', '"a"', 'nonsense', `${'['.repeat(500)}`])(
    'go to a native upstream as they were written: %s',
    async (json) => {
      const [asked, result] = ASKED;
      const { status } = await ask('chat', 'native', { messages: [asked, call(json), result] });
      expect(status).toBe(200);
      const [, said] = sent()['messages'] as { content: unknown[] }[];
      expect(said?.content).toEqual([
        { type: 'tool_use', id: 'call_1', name: 'look', input: { _raw: json } },
      ]);
    },
  );
});

describe('the last words of an assistant', () => {
  const messages = [user('Write a poem'), { role: 'assistant', content: 'Roses' }];

  it('are followed by a user for a native upstream, and stay the last for a chat one', async () => {
    expect((await ask('chat', 'native', { messages })).status).toBe(200);
    expect(sent()['messages']).toMatchObject([{}, { role: 'assistant' }, user('Go on.')]);
    expect((await ask('chat', 'chat', { messages })).status).toBe(200);
    expect(sent()['messages']).toEqual(messages);
  });

  it('stay the last where a native client wants the model to go on from them', async () => {
    expect((await ask('native', 'native', { messages })).status).toBe(200);
    expect(sent()['messages']).toEqual(messages);
  });
});

describe('cache markers of a chat client', () => {
  it('reach a native upstream from parts, messages, tools and the request', async () => {
    const tool = (name: string) => ({ type: 'function', function: { name } });
    const { status } = await ask('chat', 'native', {
      ...ephemeral,
      messages: [
        { role: 'system', content: 'Be brief.', ...forAnHour },
        user([text('Book', forAnHour), text('Question')]),
        user('All of it', ephemeral),
      ],
      tools: [{ ...tool('a'), ...forAnHour }, tool('b')],
    });
    expect(status).toBe(200);
    expect(sent()).toMatchObject({
      ...ephemeral,
      system: [{ type: 'text', text: 'Be brief.', ...forAnHour }],
      messages: [
        { role: 'user', content: [text('Book', forAnHour), text('Question')] },
        { role: 'user', content: [text('All of it', ephemeral)] },
      ],
      tools: [{ name: 'a', ...forAnHour }, { name: 'b' }],
    });
    expect((sent()['tools'] as object[])[1]).not.toHaveProperty('cache_control');
  });

  it('stand at the end of what a message says, and on the result of a tool', async () => {
    const messages = [
      user('Look'),
      { ...call('{}'), content: 'I look', ...ephemeral },
      { role: 'tool', tool_call_id: 'call_1', content: 'Seen', ...ephemeral },
      user([text('And?'), text(' ')], ephemeral),
    ];
    const functions = { name: 'look', ...ephemeral };
    const tools = [{ type: 'function', function: functions }];
    expect((await ask('chat', 'native', { messages, tools })).status).toBe(200);
    expect(sent()).toMatchObject({
      messages: [
        { content: 'Look' },
        { content: [text('I look'), { type: 'tool_use', ...ephemeral }] },
        { content: [{ type: 'tool_result', ...ephemeral }, text('And?', ephemeral)] },
      ],
      tools: [{ name: 'look', ...ephemeral }],
    });
  });

  it('of another shape are none', async () => {
    const messages = [user([text('Hi', { cache_control: 'yes' })], { cache_control: {} })];
    expect((await ask('chat', 'native', { messages, cache_control: 1 })).status).toBe(200);
    expect(JSON.stringify(sent())).not.toContain('cache_control');
  });
});

describe('structured output and effort', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const format = { type: 'json_schema', schema };
  const messages = [user('Hi')];

  it.each([{ output_format: format }, { output_config: { format } }])(
    'of a native client as %j become the response format of a chat upstream',
    async (fields) => {
      expect((await ask('native', 'chat', { messages, ...fields })).status).toBe(200);
      expect(sent()['response_format']).toMatchObject({
        type: 'json_schema',
        json_schema: { schema },
      });
      expect((await ask('native', 'native', { messages, ...fields })).status).toBe(200);
      expect(sent()).toMatchObject(fields);
      expect(Object.keys(sent()).filter((name) => name.startsWith('output'))).toHaveLength(1);
    },
  );

  it.each([
    ['low', 'low'],
    ['xhigh', 'xhigh'],
    ['max', 'xhigh'],
    ['tomorrow', undefined],
  ])('of a native client: effort %s is %s for a chat upstream', async (effort, expected) => {
    const asked = { messages, output_config: { effort } };
    expect((await ask('native', 'chat', asked)).status).toBe(200);
    expect(sent()['reasoning_effort']).toBe(expected);
    expect((await ask('native', 'plain-chat', asked)).status).toBe(200);
    expect(sent()).not.toHaveProperty('reasoning_effort');
  });

  it.each([
    ['minimal', { effort: 'low' }],
    ['high', { effort: 'high' }],
    ['none', undefined],
  ])('of a chat client: effort %s is %j for a native upstream', async (effort, expected) => {
    const asked = { messages, reasoning_effort: effort };
    expect((await ask('chat', 'native', asked)).status).toBe(200);
    expect(sent()['output_config']).toEqual(expected);
    expect((await ask('chat', 'plain-native', asked)).status).toBe(200);
    expect(sent()).not.toHaveProperty('output_config');
  });

  it('of a chat client go to a native upstream together', async () => {
    const asked = {
      messages,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
    };
    expect((await ask('chat', 'native', asked)).status).toBe(200);
    const fitted = { ...format, schema: { ...schema, additionalProperties: false } };
    expect(sent()['output_config']).toEqual({ effort: 'low', format: fitted });
  });
});

describe('a tool reference', () => {
  it('is text for a chat upstream, and itself for a native one', async () => {
    const reference = { type: 'tool_reference', tool_name: 'look' };
    const messages = [
      user('Find a tool'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'find', input: {} }] },
      user([{ type: 'tool_result', tool_use_id: 'a', content: [reference] }]),
    ];
    expect((await ask('native', 'chat', { messages })).status).toBe(200);
    expect((sent()['messages'] as unknown[])[2]).toEqual({
      role: 'tool',
      tool_call_id: 'a',
      content: 'Tool found: look',
    });
    expect((await ask('native', 'native', { messages })).status).toBe(200);
    expect(sent()['messages']).toEqual(messages);
  });
});

describe('a PDF', () => {
  const data = 'JVBERi0xLjQK';
  const url = `data:application/pdf;base64,${data}`;
  const source = { type: 'base64', media_type: 'application/pdf', data };
  const file = { type: 'file', file: { filename: 'bill.pdf', file_data: url } };
  const document = { type: 'document', source, title: 'bill.pdf' };

  it('of a chat client is a document for a native upstream', async () => {
    const marked = { ...file, ...ephemeral };
    expect((await ask('chat', 'native', { messages: [user([marked, text('Read')])] })).status).toBe(
      200,
    );
    expect(sent()['messages']).toEqual([user([{ ...document, ...ephemeral }, text('Read')])]);
    const linked = { type: 'file', file: { file_data: 'https://example.com/a.pdf' } };
    expect((await ask('chat', 'native', { messages: [user([linked])] })).status).toBe(200);
    expect(sent()['messages']).toEqual([
      user([{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }]),
    ]);
  });

  it('of a native client is a file for a chat upstream that takes them', async () => {
    const asked = [user([{ ...document, context: 'Of May.' }, text('Read')])];
    expect((await ask('native', 'rich-chat', { messages: asked })).status).toBe(200);
    expect(sent()['messages']).toEqual([user([text('Of May.'), file, text('Read')])]);
  });

  it('goes from one chat client to a chat upstream that takes them', async () => {
    expect((await ask('chat', 'rich-chat', { messages: [user([file])] })).status).toBe(200);
    expect(sent()['messages']).toEqual([user([file])]);
  });

  it.each([
    ['native', 'chat'],
    ['chat', 'chat'],
    ['chat', 'plain-native'],
  ] as const)('of a %s client is refused where %s does not take them', async (format, model) => {
    const messages = [user([format === 'native' ? document : file])];
    const { status, text: said } = await ask(format, model, { messages });
    expect(status).toBe(400);
    expect(said).toContain('this model does not take PDFs');
  });

  it('by an id is refused: whose file it is nobody can know', async () => {
    const part = { type: 'file', file: { file_id: 'file-1' } };
    const { status, json } = await ask('chat', 'rich-chat', { messages: [user([part])] });
    expect(status).toBe(400);
    expect(json()).toMatchObject({ error: { param: 'messages[0].content[0].file.file_data' } });
  });
});
