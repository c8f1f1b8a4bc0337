import Anthropic from 'anthropic-sdk-1';
import { describe, expect, it } from 'vitest';
import type { Reply } from '../../support/upstreams/start-recording-upstream.ts';
import { useCrossing } from '../../support/upstreams/use-crossing.ts';

const USAGE = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
const HEAD = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'vendor-name' };
/** What a model may write as arguments of the tool "slip". */
const SLIP = '{"path": "a';
const callsOf = (name: string) =>
  ['0', '1'].map((number, index) => {
    const called = { name, arguments: name === 'slip' ? SLIP : '{}' };
    return { index, id: `list_dir:${number}`, type: 'function', function: called };
  });

/** Calls a tool twice. The calls are counted anew in each answer, as some vendors do. */
function answerChat(name: string, isStream: boolean): Reply {
  if (!isStream) {
    const message = { role: 'assistant', content: null, tool_calls: callsOf(name) };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    const answer = { ...HEAD, object: 'chat.completion', choices, usage: USAGE };
    return { type: 'application/json', body: JSON.stringify(answer) };
  }
  const ended = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], usage: USAGE };
  const said = callsOf(name).map((call) => ({
    choices: [{ index: 0, delta: { tool_calls: [call] } }],
  }));
  const chunks = [...said, ended].map((chunk) => JSON.stringify({ ...HEAD, ...chunk }));
  const events = [...chunks, '[DONE]'].map((data) => `data: ${data}\n\n`);
  return { type: 'text/event-stream', body: events.join('') };
}

function answerResponses(name: string, isStream: boolean): Reply {
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name, arguments: '{}' };
  const usage = { input_tokens: 12, output_tokens: 3, total_tokens: 15 };
  const response = { id: 'resp_1', object: 'response', status: 'completed', output: [call], usage };
  if (!isStream) return { type: 'application/json', body: JSON.stringify(response) };
  const event = { type: 'response.completed', response };
  return { type: 'text/event-stream', body: `data: ${JSON.stringify(event)}\n\n` };
}

interface OfferedTool {
  readonly name?: string;
  readonly function?: { readonly name: string };
}

/** The upstream calls the first of its tools, whatever it is asked. */
const { ask, gateway, sent } = useCrossing(({ path, body }) => {
  const [tool] = (body['tools'] ?? []) as OfferedTool[];
  const isStream = body['stream'] === true;
  if (path.includes('/chat/')) return answerChat(tool?.function?.name ?? 'list_dir', isStream);
  return path.endsWith('/responses') ? answerResponses(tool?.name ?? '', isStream) : undefined;
});

const TOOL = { name: 'list_dir', input_schema: { type: 'object' as const } };
const anthropic = () =>
  new Anthropic({ apiKey: gateway().key(), baseURL: gateway().url, maxRetries: 0 });

describe('calls of an upstream that counts them anew in each answer', () => {
  it.each([
    [false, 'a native client'],
    [true, 'a native client that streams'],
  ])('can be sent back by %s (%s)', async (isStream) => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look' }];
    for (let turn = 0; turn < 3; turn += 1) {
      const asked = { model: 'chat', max_tokens: 99, messages, tools: [TOOL] };
      const answer = isStream
        ? await anthropic().messages.stream(asked).finalMessage()
        : await anthropic().messages.create(asked);
      const results = answer.content.flatMap((block) =>
        block.type === 'tool_use'
          ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: block.name }]
          : [],
      );
      expect(results).toHaveLength(2);
      messages.push({ role: 'assistant', content: answer.content as never });
      messages.push({ role: 'user', content: results });
    }
    const talk = sent()['messages'] as { tool_calls?: { id: string }[]; tool_call_id?: string }[];
    const called = talk.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
    const answered = talk.flatMap(({ tool_call_id: id }) => id ?? []);
    expect(answered).toEqual(called);
    expect(new Set(called).size).toBe(4);
  });

  it.each([false, true])('have other ids in each response, streamed: %s', async (isStream) => {
    const asked = { input: 'Look', tools: [{ type: 'function', name: 'list_dir' }] };
    const answers = [];
    for (let turn = 0; turn < 2; turn += 1) {
      answers.push(await ask('responses', 'chat', { ...asked, stream: isStream }));
    }
    const ids = answers.flatMap(({ text }) => [
      ...new Set([...text.matchAll(/"call_id":"([^"]*)"/g)].map(([, id]) => id)),
    ]);
    expect(new Set(ids).size).toBe(4);
  });

  it('are as they were for a chat client', async () => {
    const messages = [{ role: 'user', content: 'Look' }];
    const { json } = await ask('chat', 'chat', { messages });
    expect(json()).toMatchObject({ choices: [{ message: { tool_calls: callsOf('list_dir') } }] });
  });
});

describe('arguments of an answer that are not a JSON object', () => {
  const messages = [{ role: 'user', content: 'Look' }];

  it('reach a native client in an object, with the usage that is charged', async () => {
    const tools = [{ name: 'slip', input_schema: { type: 'object' } }];
    const answer = (await ask('native', 'chat', { messages, tools })).json();
    const call = { type: 'tool_use', name: 'slip', input: { _raw: SLIP } };
    expect(answer).toMatchObject({ content: [call, call], stop_reason: 'tool_use' });
    expect(answer).toMatchObject({ usage: { input_tokens: 12, output_tokens: 3 } });
  });

  it('reach a Responses client as they were written', async () => {
    const tools = [{ type: 'function', name: 'slip' }];
    const answer = (await ask('responses', 'chat', { input: 'Look', tools })).json();
    const call = { type: 'function_call', name: 'slip', arguments: SLIP };
    expect(answer).toMatchObject({ status: 'completed', output: [call, call] });
  });
});

it('calls of a chat client reach a native upstream with an id each', async () => {
  const turn = [
    { role: 'assistant', tool_calls: [{ ...callsOf('list_dir')[0], id: 'call_0' }] },
    { role: 'tool', tool_call_id: 'call_0', content: 'Seen' },
  ];
  const messages = [{ role: 'user', content: 'Look' }, ...turn, ...turn];
  expect((await ask('chat', 'native', { messages })).status).toBe(200);
  expect(sent()['messages']).toMatchObject([
    { role: 'user' },
    { content: [{ type: 'tool_use', id: 'call_0' }] },
    { content: [{ type: 'tool_result', tool_use_id: 'call_0' }] },
    { content: [{ type: 'tool_use', id: 'call_0_1' }] },
    { content: [{ type: 'tool_result', tool_use_id: 'call_0_1' }] },
  ]);
  expect((await ask('chat', 'chat', { messages })).status).toBe(200);
  expect(sent()['messages']).toEqual(messages);
});

describe.each(['chat', 'responses'])('a tool with a long name, at a %s upstream', (model) => {
  const name = `mcp__a_server_with_a_long_name__${'and_a_tool'.repeat(8)}`;
  const tools = [
    { name, input_schema: { type: 'object' as const } },
    { name: `${name}_2`, input_schema: { type: 'object' as const } },
  ];
  const messages: Anthropic.MessageParam[] = [
    { role: 'user', content: 'Look' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Seen' }] },
  ];

  it.each([false, true])(
    'has a short one there, and its own here, streamed: %s',
    async (isStream) => {
      const choice = { type: 'tool' as const, name };
      const asked = { model, max_tokens: 99, messages, tools, tool_choice: choice };
      const answer = isStream
        ? await anthropic().messages.stream(asked).finalMessage()
        : await anthropic().messages.create(asked);
      expect(answer.content[0]).toMatchObject({ type: 'tool_use', name, input: {} });

      const names = [...JSON.stringify(sent()).matchAll(/"name":"(mcp__[^"]*)"/g)];
      const told = names.map(([, known = '']) => known);
      // Two tools, the choice of one and its call.
      expect(told).toHaveLength(4);
      expect(new Set(told).size).toBe(2);
      for (const known of told) expect(known).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    },
  );
});
