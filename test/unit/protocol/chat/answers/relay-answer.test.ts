import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tallyDeltas } from '../../../../../src/protocol/answers/count-content-bytes.ts';
import { outlineAnswer } from '../../../../../src/protocol/answers/outline-answer.ts';
import { decodeChatAnswer } from '../../../../../src/protocol/chat/answers/decode-answer.ts';
import { encodeCompletionId } from '../../../../../src/protocol/chat/answers/encode-completion-id.ts';
import { encodeUsage } from '../../../../../src/protocol/chat/answers/encode-usage.ts';
import { keepFinishReason } from '../../../../../src/protocol/chat/answers/finish-reasons.ts';
import { relayChatAnswer } from '../../../../../src/protocol/chat/answers/relay-answer.ts';
import {
  attempt,
  shuffle,
  strangeFields,
  texts,
  writeJson,
  writings,
} from '../../written-bodies.ts';

const FUZZ_TIME_MS = 4_000;
const MODEL = 'llm-"pinned"';
const CONTEXT = { createdSeconds: 1_800_000_000, wantsStreamUsage: false };

const relay = (body: string) => relayChatAnswer(Buffer.from(body), MODEL, CONTEXT);
const textOf = (body: string) => {
  const { events, closing } = relay(body);
  const finish = events.at(-1);
  if (finish?.type !== 'finish' || finish.usage === undefined) throw new Error('it has no usage');
  return Buffer.from(closing?.(finish.usage) ?? []).toString('utf8');
};

const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{"a":"ö"}' } };
const message = fc.record(
  {
    role: fc.constantFrom('assistant', 'assistant', 'assistant', 'user'),
    content: fc.oneof(texts, fc.constantFrom('', null, [{ type: 'text', text: 'parts' }])),
    refusal: fc.constantFrom(null, '', 'I cannot.'),
    reasoning_content: fc.constantFrom(null, '', 'Hm…'),
    reasoning: fc.constantFrom(null, 'Well…'),
    tool_calls: fc.constantFrom<unknown>(null, [], [call], [{ ...call, id: '' }]),
    annotations: fc.constant([{ model: 'nested' }]),
  },
  { requiredKeys: ['role', 'content'] },
);
const choice = fc.record(
  {
    index: fc.constantFrom<unknown>(0, 0, 0, null, 1),
    message,
    finish_reason: fc.constantFrom<unknown>('stop', 'length', 'tool_calls', 'eos', 'abort', null),
    logprobs: fc.constant(null),
  },
  { requiredKeys: ['message'] },
);
const usage = {
  ...{ prompt_tokens: 9, completion_tokens: 4, total_tokens: 20, more: [1] },
  prompt_tokens_details: { audio_tokens: 2, cached_tokens: 3 },
};
const answers = fc
  .record(
    {
      id: fc.constantFrom('chatcmpl-"1"', 'msg_2', 7),
      object: fc.constant('chat.completion.of.a.vendor'),
      created: fc.constant(1),
      model: fc.constantFrom('vendor', 'mödel', MODEL),
      choices: fc.array(choice, { minLength: 1, maxLength: 2 }),
      usage: fc.constantFrom<unknown>(usage, usage, usage, {}, null),
      error: fc.constantFrom<unknown>(null, null, '', 'bad', { message: 'worse' }),
    },
    { requiredKeys: ['choices', 'usage'] },
  )
  .chain((known) => strangeFields.map((strange) => ({ ...strange, ...known })))
  .chain(shuffle);

function expectRelay(body: string, relayed: ReturnType<typeof relay>): void {
  const { events, contentBytes } = tallyDeltas(decodeChatAnswer(body));
  const [start] = events;
  const finish = events.at(-1);
  if (start?.type !== 'start' || finish?.type !== 'finish' || finish.usage === undefined) {
    throw new Error('This answer should have been written anew.');
  }
  expect(relayed).toMatchObject({ contentBytes, events: outlineAnswer(events) });
  const answer = JSON.parse(body);
  const [reported] = answer.choices;
  const reason = keepFinishReason(reported.finish_reason, finish.stopReason);
  const ours = encodeUsage(finish.usage);
  const details = { audio_tokens: 2, ...ours.prompt_tokens_details };
  expect(JSON.parse(textOf(body))).toEqual({
    ...answer,
    id: encodeCompletionId(start.id),
    object: 'chat.completion',
    created: CONTEXT.createdSeconds,
    model: MODEL,
    choices: [{ ...reported, index: 0, finish_reason: reason }],
    usage: { ...answer.usage, ...ours, prompt_tokens_details: details },
  });
}

describe('a whole chat answer for a chat client', () => {
  it('is the same with a head of ours, and is counted as it is where it is written anew', () => {
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(answers, writings, (answer, writing) => {
        const body = writeJson(answer, writing);
        const relayed = attempt(() => relay(body));
        if (typeof relayed === 'string') {
          expect(relayed).toEqual(attempt(() => decodeChatAnswer(body)));
          outcomes.add('refused');
        } else if (relayed.closing === undefined) {
          expect(relayed.events).toEqual(decodeChatAnswer(body));
          outcomes.add('written anew');
        } else {
          expectRelay(body, relayed);
          outcomes.add('relayed');
        }
      }),
      { numRuns: 5_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
    expect([...outcomes].sort()).toEqual(['refused', 'relayed', 'written anew']);
  });

  const USAGE = '"usage":{"prompt_tokens":1,"completion_tokens":1}';
  const choices = (reason: string) =>
    `"choices" : [{"index":0,"message":{"role":"assistant","content":"\\u0041"},"finish_reason":${reason}}]`;

  it('keeps the bytes of its choices', () => {
    const text = textOf(`{"id":"1","model":"vendor",${choices('"stop"')},${USAGE}}`);
    expect(text).toContain(choices('"stop"'));
    expect(text).not.toContain('vendor');
  });

  it('says the reason in the words of the format', () => {
    const answer = JSON.parse(textOf(`{"id":"1",${choices('"eos"')},${USAGE}}`));
    expect(answer.choices).toMatchObject([{ finish_reason: 'stop' }]);
  });

  it('keeps a call of the deprecated kind, also where it is written anew', () => {
    const called = { name: 'look', arguments: '{"a":1}' };
    const said = { role: 'assistant', content: null, function_call: called };
    const spoken = [{ index: 0, message: said, finish_reason: 'function_call' }];
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    expect(JSON.parse(textOf(JSON.stringify({ choices: spoken, usage }))).choices).toMatchObject([
      { message: said },
    ]);
    const { events, closing } = relay(JSON.stringify({ choices: spoken }));
    expect(closing).toBeUndefined();
    expect(events).toContainEqual(
      expect.objectContaining({ delta: { type: 'input_json', json: '{"a":1}' } }),
    );
  });

  it.each([
    ['stop', { refusal: 'I cannot.' }, 'stop'],
    ['content_filter', { refusal: 'I cannot.' }, 'content_filter'],
    ['stop', { tool_calls: [call] }, 'tool_calls'],
    ['eos', { refusal: 'I cannot.' }, 'content_filter'],
    ['model_length', { content: 'Hi' }, 'length'],
    ['sensitive', { content: 'Hi' }, 'content_filter'],
  ])(
    'ends with the reason of its upstream, if clients know it: %s of %j',
    (reported, said, reason) => {
      const message = { role: 'assistant', content: null, ...said };
      const spoken = [{ index: 0, message, finish_reason: reported }];
      const usage = { prompt_tokens: 1, completion_tokens: 1 };
      const answer = JSON.parse(textOf(JSON.stringify({ choices: spoken, usage })));
      expect(answer.choices).toEqual([{ index: 0, message, finish_reason: reason }]);
    },
  );

  it('keeps unknown fields of calls that come without a content', () => {
    const extra = { google: { thought_signature: 'c2ln' } };
    const message = { role: 'assistant', tool_calls: [{ ...call, extra_content: extra }] };
    const spoken = [{ index: 0, message, finish_reason: 'tool_calls' }];
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    const answer = JSON.parse(textOf(JSON.stringify({ choices: spoken, usage })));
    expect(answer.choices).toEqual(spoken);
  });

  it('keeps an empty list of calls, and all that comes beside it', () => {
    const said = { reasoning: 'Hm…', annotations: [{ type: 'url_citation' }], tool_calls: [] };
    for (const more of [said, { ...said, reasoning: null }]) {
      const message = { role: 'assistant', content: 'Four.', ...more };
      const logprobs = { content: [{ token: 'Four.', logprob: -0.1 }] };
      const spoken = [{ index: 0, message, logprobs, finish_reason: 'stop', stop_reason: null }];
      const usage = { prompt_tokens: 1, completion_tokens: 1 };
      const answer = JSON.parse(textOf(JSON.stringify({ choices: spoken, usage, kv: null })));
      expect(answer).toMatchObject({ choices: spoken, kv: null });
    }
  });

  it('is written anew where it says nothing but an empty list of calls', () => {
    const spoken = [{ index: 0, message: { role: 'assistant', tool_calls: [] } }];
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    expect(relay(JSON.stringify({ choices: spoken, usage })).closing).toBeUndefined();
  });

  it('has one name where that stands twice', () => {
    const text = textOf(`{"model":"evil",${choices('"stop"')},${USAGE},"mod\\u0065l":"evil"}`);
    expect(text).not.toContain('evil');
    expect(JSON.parse(text).model).toBe(MODEL);
  });
});
