import Anthropic from 'anthropic-sdk-1';
import { describe, expect, it } from 'vitest';
import { useCrossing } from '../../support/upstreams/use-crossing.ts';

const USAGE = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
const HEAD = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'vendor-name' };
/** Counted anew in each answer, as some vendors do. */
const CALLED = ['list_dir:0', 'list_dir:1'].map((id, index) => {
  return { index, id, type: 'function', function: { name: 'list_dir', arguments: '{}' } };
});

/** The upstream calls two tools, whatever it is asked. */
const { ask, gateway, sent } = useCrossing(({ path, body }) => {
  if (!path.includes('/chat/')) return undefined;
  if (body['stream'] !== true) {
    const message = { role: 'assistant', content: null, tool_calls: CALLED };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    const answer = { ...HEAD, object: 'chat.completion', choices, usage: USAGE };
    return { type: 'application/json', body: JSON.stringify(answer) };
  }
  const ended = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], usage: USAGE };
  const said = CALLED.map((call) => ({ choices: [{ index: 0, delta: { tool_calls: [call] } }] }));
  const chunks = [...said, ended].map((chunk) => JSON.stringify({ ...HEAD, ...chunk }));
  const events = [...chunks, '[DONE]'].map((data) => `data: ${data}\n\n`);
  return { type: 'text/event-stream', body: events.join('') };
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
    expect(json()).toMatchObject({ choices: [{ message: { tool_calls: CALLED } }] });
  });
});

it('calls of a chat client reach a native upstream with an id each', async () => {
  const turn = [
    { role: 'assistant', tool_calls: [{ ...CALLED[0], id: 'call_0' }] },
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
