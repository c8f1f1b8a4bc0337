import Anthropic from 'anthropic-sdk-1';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { streamBody, USAGE, wholeBody } from '../../support/upstreams/upstream-answers.ts';
import { useCrossing } from '../../support/upstreams/use-crossing.ts';

const THOUGHT = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'vendor-name',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Four.', reasoning_content: 'Two and two.' },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
};

/**
 * As the prompt says, the upstream thinks or answers in the mode that the client did not ask for.
 */
const { ask, gateway, sent } = useCrossing(({ path, body }) => {
  const kind = path.includes('/messages') ? 'native' : 'chat';
  const asked = JSON.stringify(body['messages']);
  const isStream = asked.includes('contrary') ? body['stream'] !== true : body['stream'] === true;
  if (asked.includes('Ponder')) {
    return { type: 'application/json; charset=utf-8', body: JSON.stringify(THOUGHT) };
  }
  if (asked.includes('error in JSON')) {
    return { type: 'application/json', body: '{"error":{"message":"no","type":"server_error"}}' };
  }
  const types = ['text/event-stream', 'application/json'];
  if (asked.includes('wrong type')) types.reverse();
  return isStream
    ? { type: types[0] ?? '', body: streamBody(kind, ['One.', ' Two.'], USAGE) }
    : { type: types[1] ?? '', body: `\n${wholeBody(kind, 'One. Two.', USAGE)}` };
});

const UPSTREAM_KINDS = ['native', 'chat'] as const;
const anthropic = () =>
  new Anthropic({ apiKey: gateway().key(), baseURL: gateway().url, maxRetries: 0 });
const openai = () =>
  new OpenAI({ apiKey: gateway().key(), baseURL: `${gateway().url}/v1`, maxRetries: 0 });
const contrary = [{ role: 'user' as const, content: 'Be contrary.' }];

describe.each(UPSTREAM_KINDS)(
  'a %s upstream that answers a streamed request with JSON',
  (model) => {
    it('is streamed to a native client', async () => {
      const asked = { model, max_tokens: 99, messages: contrary };
      const message = await anthropic().messages.stream(asked).finalMessage();
      expect(message.content).toMatchObject([{ type: 'text', text: 'One. Two.' }]);
      expect(message.usage).toMatchObject({ input_tokens: 12, output_tokens: 3 });
      expect(message.model).toBe(model);
    });

    it('is streamed to a chat client', async () => {
      const stream = await openai().chat.completions.create({
        model,
        messages: contrary,
        stream: true,
        stream_options: { include_usage: true },
      });
      let said = '';
      let usage: unknown;
      for await (const chunk of stream) {
        said += chunk.choices[0]?.delta.content ?? '';
        usage = chunk.usage ?? usage;
      }
      expect(said).toBe('One. Two.');
      expect(usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 3 });
    });
  },
);

describe.each(UPSTREAM_KINDS)(
  'a %s upstream that streams what was asked for as a whole',
  (model) => {
    it('is put together for both kinds of client', async () => {
      const asked = { model, max_tokens: 99, messages: contrary };
      const message = await anthropic().messages.create(asked);
      expect(message.content).toMatchObject([{ type: 'text', text: 'One. Two.' }]);
      expect(message.usage).toMatchObject({ input_tokens: 12, output_tokens: 3 });
      const completion = await openai().chat.completions.create({ model, messages: contrary });
      expect(completion.choices[0]?.message.content).toBe('One. Two.');
      expect(completion.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 3 });
    });
  },
);

it.each([false, true])('a wrong type does not matter, streamed: %s', async (isStream) => {
  const messages = [{ role: 'user', content: 'Say a wrong type.' }];
  for (const model of UPSTREAM_KINDS) {
    for (const format of UPSTREAM_KINDS) {
      const { status, text, type } = await ask(format, model, { messages, stream: isStream });
      expect(status).toBe(200);
      expect(type).toContain(isStream ? 'text/event-stream' : 'application/json');
      expect(text).toContain('One.');
    }
  }
});

it('a stream that is an error in JSON is an error with a status of its own', async () => {
  const messages = [{ role: 'user', content: 'an error in JSON' }];
  for (const model of UPSTREAM_KINDS) {
    const { status } = await ask('chat', model, { messages, stream: true });
    expect(status).toBeGreaterThanOrEqual(500);
  }
});

describe('what a chat upstream thought', () => {
  const question = { role: 'user', content: 'Ponder.' };

  it.each([false, true])('is signed as nobody else does, streamed: %s', async (isStream) => {
    const asked = { model: 'chat', max_tokens: 99, messages: [question as never] };
    const client = anthropic().messages;
    const { content } = isStream
      ? await client.stream(asked).finalMessage()
      : await client.create(asked);
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'Two and two.', signature: 'tollgate' },
      { type: 'text', text: 'Four.' },
    ]);
  });

  it.each([false, true])('is not sent to anybody as text, in a large body: %s', async (isLarge) => {
    const { content } = (await ask('native', 'chat', { messages: [question] })).json();
    const next = `And five?${isLarge ? ' long'.repeat(4_000) : ''}`;
    const messages = [
      { role: 'user', content: 'Two and two?' },
      { role: 'assistant', content },
      { role: 'user', content: next },
    ];
    for (const model of ['native', 'chat', 'plain-chat']) {
      expect((await ask('native', model, { messages })).status).toBe(200);
      expect(JSON.stringify(sent())).not.toMatch(/Two and two\.|"tollgate"/);
      expect(JSON.stringify(sent())).toContain('Four.');
    }
    expect((await ask('native', 'rich-chat', { messages })).status).toBe(200);
    expect((sent()['messages'] as unknown[])[1]).toEqual({
      role: 'assistant',
      content: 'Four.',
      reasoning_content: 'Two and two.',
    });
  });

  it('is for nobody else where a native vendor signed it', async () => {
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
    const messages = [
      { role: 'user', content: 'Two and two?' },
      { role: 'assistant', content: [signed, { type: 'text', text: 'Four.' }] },
      { role: 'user', content: 'And five?' },
    ];
    expect((await ask('native', 'native', { messages })).status).toBe(200);
    expect(sent()['messages']).toEqual(messages);
    expect((await ask('native', 'rich-chat', { messages })).status).toBe(200);
    expect(JSON.stringify(sent())).not.toContain('Hm.');
  });
});
