import { describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { streamBody, USAGE, wholeBody } from '../../support/upstreams/upstream-answers.ts';
import { useCrossing } from '../../support/upstreams/use-crossing.ts';

const { ask, gateway, sent } = useCrossing(({ path, body }) => {
  const kind = path.includes('/messages') ? 'native' : 'chat';
  return body['stream'] === true
    ? { type: 'text/event-stream', body: streamBody(kind, ['One.', ' Two.'], USAGE) }
    : { type: 'application/json', body: wholeBody(kind, 'One. Two.', USAGE) };
});

const UPSTREAM_KINDS = ['native', 'chat'] as const;
const DATA_URL = 'data:application/pdf;base64,JVBERi0xLjQK';
const user = (content: unknown) => ({ role: 'user', content });
const PATCH = {
  type: 'custom',
  name: 'apply_patch',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
};

describe.each(UPSTREAM_KINDS)('a Responses client of a %s upstream', (model) => {
  it('gets a whole answer, with the usage that it is charged', async () => {
    const { status, json } = await ask('responses', model, { input: 'Count' });
    expect(status).toBe(200);
    expect(json()).toMatchObject({
      ...{ object: 'response', status: 'completed', model, store: false },
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'One. Two.' }] }],
      usage: { input_tokens: 12, output_tokens: 3, total_tokens: 15 },
    });
  });

  it('gets the same as a stream', async () => {
    const { text, type } = await ask('responses', model, { input: 'Count', stream: true });
    expect(type).toContain('text/event-stream');
    const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names.filter((name) => name !== 'response.output_text.delta')).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const last = JSON.parse(text.trimEnd().split('\ndata: ').at(-1) ?? '');
    expect(last.response).toMatchObject({
      output: [{ content: [{ text: 'One. Two.' }] }],
      usage: { input_tokens: 12, output_tokens: 3 },
    });
  });

  it('pays for what the upstream counted, once', async () => {
    const operator = admin(gateway());
    const account = await operator.createAccount({ credits: 5 });
    const { id, key } = await operator.createKey(account);
    for (const stream of [false, true]) {
      const response = await fetch(`${gateway().url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, input: 'Count', stream, store: false }),
      });
      await response.text();
    }
    await operator.waitUntilSettled(account);
    const { spent_this_month: spent } = await operator.key(id);
    expect(spent).toBeCloseTo((2 * (12 * 1 + 3 * 5)) / 1e6, 9);
  });
});

describe('what a Responses client says', () => {
  const TOOLS = [
    { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } },
    PATCH,
    { type: 'namespace', name: 'mcp__files', tools: [{ type: 'function', name: 'read' }] },
    { type: 'web_search' },
  ];
  const HISTORY = [
    { role: 'developer', content: 'Be brief.' },
    user('Fix it.'),
    { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: 'patch' },
    {
      type: 'function_call',
      call_id: 'call:2',
      name: 'read',
      namespace: 'mcp__files',
      arguments: '{',
    },
    { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done' },
    { type: 'function_call_output', call_id: 'call:2', output: 'Not JSON' },
  ];
  const ASKED = { instructions: 'You help.', input: HISTORY, tools: TOOLS };

  it('reaches a native upstream in its format, with the ids that it takes', async () => {
    expect((await ask('responses', 'native', ASKED)).status).toBe(200);
    expect(sent()).toMatchObject({
      max_tokens: 100,
      system: 'You help.\nBe brief.',
      tools: [{ name: 'look' }, { name: 'apply_patch' }, { name: 'mcp__files__read' }],
      messages: [
        user('Fix it.'),
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'call_1', name: 'apply_patch', input: { input: 'patch' } },
            { type: 'tool_use', id: 'call_2', name: 'mcp__files__read', input: { _raw: '{' } },
          ],
        },
        user([
          { type: 'tool_result', tool_use_id: 'call_1', content: [{ text: 'Done' }] },
          { type: 'tool_result', tool_use_id: 'call_2', content: [{ text: 'Not JSON' }] },
        ]),
      ],
    });
    expect(sent()).not.toHaveProperty('store');
  });

  it('reaches a chat upstream in its format', async () => {
    expect((await ask('responses', 'chat', ASKED)).status).toBe(200);
    expect(sent()).toMatchObject({
      messages: [
        { role: 'system', content: 'You help.\nBe brief.' },
        user('Fix it.'),
        { role: 'assistant', tool_calls: [{ id: 'call_1' }, { id: 'call:2' }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Done' },
        { role: 'tool', tool_call_id: 'call:2', content: 'Not JSON' },
      ],
    });
    expect(JSON.stringify(sent()['tools'])).toContain('grammar, written for lark');
  });

  it('about effort and caching is sent to each upstream as it knows it', async () => {
    const asked = {
      ...{ input: 'Hi', temperature: 0.5, prompt_cache_key: 'k' },
      ...{ reasoning: { effort: 'minimal', summary: 'auto' }, text: { verbosity: 'low' } },
    };
    expect((await ask('responses', 'native', asked)).status).toBe(200);
    expect(sent()).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
      cache_control: { type: 'ephemeral' },
    });
    expect(sent()).not.toHaveProperty('temperature');
    expect((await ask('responses', 'plain-native', asked)).status).toBe(200);
    expect(sent()).toMatchObject({ temperature: 0.5 });
    expect(sent()).not.toHaveProperty('thinking');
    expect(
      (await ask('responses', 'chat', { ...asked, reasoning: { effort: 'high' } })).status,
    ).toBe(200);
    expect(sent()).toMatchObject({ reasoning_effort: 'high', verbosity: 'low' });
  });

  it('about its cache is sent to the chat upstreams that are set to accept the key', async () => {
    const asked = { prompt_cache_key: 'k' };
    const keyFor = async (format: 'responses' | 'chat', model: string, body: object) => {
      expect((await ask(format, model, { ...asked, ...body })).status).toBe(200);
      return sent()['prompt_cache_key'];
    };
    // Gemini and Groq refuse every request with it.
    expect(await keyFor('responses', 'chat', { input: 'Hi' })).toBeUndefined();
    expect(await keyFor('responses', 'plain-chat', { input: 'Hi' })).toBeUndefined();
    expect(await keyFor('responses', 'rich-chat', { input: 'Hi' })).toBe('k');
    // A chat client knows its model.
    expect(await keyFor('chat', 'chat', { messages: [user('Hi')] })).toBe('k');
  });

  it.each([
    ['native', 200],
    ['rich-chat', 200],
    ['chat', 400],
    ['plain-native', 400],
  ])('as a PDF goes to %s: %i', async (model, status) => {
    const file = { type: 'input_file', filename: 'bill.pdf', file_data: DATA_URL };
    const answered = await ask('responses', model, { input: [user([file])] });
    expect(answered.status).toBe(status);
    if (status === 400) expect(answered.text).toContain('this model does not take PDFs');
  });

  it('in images of a tool goes to a chat upstream as a message of the user', async () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' };
    const input = [
      user('Look'),
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: [image] },
    ];
    expect((await ask('responses', 'chat', { input })).status).toBe(200);
    expect(sent()['messages']).toMatchObject([{}, {}, { role: 'tool' }, { role: 'user' }]);
    expect(JSON.stringify(sent())).toContain('iVBORw0KGgo=');
  });
});

describe('the hold of a Responses request', () => {
  const IMAGE = { type: 'input_image', image_url: 'https://example.com/a.png' };
  const LONG = 'All of a book. '.repeat(2_000);
  const least = { input: 'Hi' };
  const LONG_TOOL = { type: 'function', name: 'long', description: LONG };
  const CASES: Readonly<Record<string, object>> = {
    'its instructions': { ...least, instructions: LONG },
    'its tools': { ...least, tools: [LONG_TOOL] },
    'a tool that is not to be called': {
      ...{ ...least, tools: [LONG_TOOL] },
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] },
    },
    'a tool that is told again': {
      ...least,
      tools: [{ ...LONG_TOOL, description: 'Short.' }, LONG_TOOL],
    },
    'what a namespace says of itself': {
      ...least,
      tools: [{ ...LONG_TOOL, type: 'namespace', tools: [{ type: 'function', name: 'a' }] }],
    },
    'a grammar': {
      ...least,
      tools: [{ ...PATCH, format: { ...PATCH.format, definition: LONG } }],
    },
    'a schema': {
      ...least,
      text: { format: { type: 'json_schema', name: 'a', schema: { description: LONG } } },
    },
    'what a schema says of itself': {
      ...least,
      text: { format: { type: 'json_schema', name: 'a', description: LONG, schema: {} } },
    },
    'a name in a namespace': {
      input: [
        user('Look'),
        {
          type: 'function_call',
          call_id: 'c',
          name: LONG.slice(0, 15_000),
          namespace: 'a',
          arguments: '{}',
        },
      ],
    },
    'an image': { input: [user([IMAGE, IMAGE, IMAGE])] },
    'a file': { input: [user([{ type: 'input_file', file_data: DATA_URL }])] },
    'the output of a call': {
      input: [
        user('Look'),
        { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: LONG },
      ],
    },
  };

  // It pays for the answer and for 1,500 tokens of input.
  it.each(Object.entries(CASES))('counts %s', async (_, body) => {
    const operator = admin(gateway());
    const account = await operator.createAccount({ credits: 0.002 });
    const { key } = await operator.createKey(account);
    const statusOf = async (asked: object) => {
      const response = await fetch(`${gateway().url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'native', max_output_tokens: 100, ...asked }),
      });
      await response.text();
      return response.status;
    };
    expect(await statusOf(body)).toBe(402);
    expect(await statusOf(least)).toBe(200);
  });
});
