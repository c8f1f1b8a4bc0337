import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../src/protocol/chat/chat-format.ts';
import { encodeChatRequest } from '../../src/protocol/chat/requests/encode-request.ts';
import type {
  ContentBlock,
  InferenceRequest,
  Message,
  Tool,
} from '../../src/protocol/inference.ts';
import { encodeNativeRequest } from '../../src/protocol/native/requests/encode-request.ts';
import { endWithUser } from '../../src/protocol/native/requests/end-with-user.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { decodeNative } from '../unit/protocol/upstream-requests.ts';

const FUZZ_TIME_MS = 3_000;
const RUNS = { numRuns: 500, timeMs: FUZZ_TIME_MS };

const said = fc.string({ unit: 'grapheme', maxLength: 8 }).map((words) => `.${words}.`);
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);

const texts = said.map((text) => ({ type: 'text', text }));
const markedTexts = texts.map((text) => ({ ...text, cache_control: { type: 'ephemeral' } }));
const images = fc.constantFrom(
  { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
);
const thoughts = fc.constantFrom(
  { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
  { type: 'redacted_thinking', data: 'aGlk' },
);
const inputs = fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
const results = fc.oneof(
  said,
  fc.array(fc.oneof(texts, images), { maxLength: 3 }),
  fc.constant(undefined),
);

/** A user's question, the assistant's answer with tool calls, and the results of the calls. */
const rounds = fc.record({
  asked: fc.oneof(said, fc.array(fc.oneof(texts, images), { minLength: 1, maxLength: 3 })),
  thoughts: fc.array(thoughts, { maxLength: 2 }),
  answered: fc.array(said, { minLength: 1, maxLength: 2 }),
  calls: fc.array(fc.record({ name, input: inputs, result: results, isError: fc.boolean() }), {
    maxLength: 3,
  }),
  aside: fc.option(texts),
});

type Round = typeof rounds extends fc.Arbitrary<infer Value> ? Value : never;

function toMessages(round: Round, i: number): unknown[] {
  const uses = round.calls.map(({ name: tool, input }, j) => ({
    type: 'tool_use',
    id: `toolu_${i}_${j}`,
    name: tool,
    input,
  }));
  const answers = round.calls.map(({ result, isError }, j) => ({
    type: 'tool_result',
    tool_use_id: `toolu_${i}_${j}`,
    ...(result !== undefined && { content: result }),
    is_error: isError,
  }));
  const aside = round.aside === null ? [] : [round.aside];
  return [
    { role: 'user', content: round.asked },
    {
      role: 'assistant',
      content: [
        ...round.thoughts,
        ...round.answered.map((text) => ({ type: 'text', text })),
        ...uses,
      ],
    },
    ...(answers.length > 0 ? [{ role: 'user', content: [...answers, ...aside] }] : []),
  ];
}

const bodies = fc
  .record({
    system: fc.option(fc.oneof(said, fc.array(markedTexts, { minLength: 1, maxLength: 2 }))),
    rounds: fc.array(rounds, { minLength: 1, maxLength: 3 }),
    toolNames: fc.uniqueArray(name, { maxLength: 3 }),
    choice: fc.constantFrom('auto', 'any', 'none', undefined),
    isOneAtATime: fc.boolean(),
    stop: fc.array(said, { maxLength: 4 }),
    temperature: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    schema: fc.option(fc.dictionary(name, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })),
    user: fc.option(name),
  })
  .map(({ rounds: talked, toolNames, choice, isOneAtATime, ...body }) => ({
    model: 'opus',
    max_tokens: 512,
    system: body.system,
    messages: talked.flatMap(toMessages),
    tools: toolNames.map((tool) => ({
      name: tool,
      input_schema: { type: 'object', properties: {} },
    })),
    ...(toolNames.length > 0 &&
      choice !== undefined && {
        tool_choice: {
          type: choice,
          ...(choice !== 'none' && isOneAtATime && { disable_parallel_tool_use: true }),
        },
      }),
    stop_sequences: body.stop,
    temperature: body.temperature,
    ...(body.schema !== null && {
      output_config: { format: { type: 'json_schema', schema: body.schema } },
    }),
    ...(body.user !== null && { metadata: { user_id: body.user } }),
  }))
  // In the form that arrives over the wire, which has no negative zero.
  .map((body): unknown => JSON.parse(JSON.stringify(body)));

type ToolContent = Extract<ContentBlock, { type: 'tool_result' }>['content'];

const blocksOf = (content: ToolContent): readonly ContentBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);

const textsOf = (content: ToolContent): string[] =>
  blocksOf(content).flatMap((block) => (block.type === 'text' ? [block.text] : []));

const imagesOf = (content: ToolContent): unknown[] =>
  blocksOf(content).flatMap((block) => (block.type === 'image' ? [block['source']] : []));

const isIntro = (text: string) => text.startsWith('Shown by the call toolu_');

/** The texts by speaker, the calls, their results and the images, each in order. */
function readTalk(messages: readonly Message[]) {
  const blocks = messages.flatMap(({ content }) => blocksOf(content));
  const answers = blocks.filter((block) => block.type === 'tool_result');
  return {
    said: messages.flatMap(({ role, content }) => {
      const texts = textsOf(content).filter((text) => !isIntro(text));
      // In the chat format an answer has only one text, as has what a user says in a row.
      return role === 'assistant'
        ? [`${role}: ${texts.join('')}`]
        : texts.flatMap((text) => text.split('\n\n'));
    }),
    called: blocks.flatMap((block) =>
      block.type === 'tool_use' ? [[block.id, block.name, block.input]] : [],
    ),
    answered: answers.map(({ tool_use_id: id, content, is_error: isError }) => {
      const text = textsOf(content).join('\n');
      return [id, isError === true ? `Error: ${text}` : text];
    }),
    shown: messages
      .flatMap(({ content }) => imagesOf(content))
      .concat(answers.flatMap(({ content }) => imagesOf(content)))
      .map((image) => JSON.stringify(image))
      .sort(),
  };
}

/** The parts of a request that every format can express. */
function readRequest(request: InferenceRequest) {
  return {
    system: textsOf(request.system).join('\n'),
    talk: readTalk(request.messages),
    tools: request.tools.map(({ name: tool, input_schema }: Tool) => [tool, input_schema]),
    toolChoice: request.toolChoice,
    stopSequences: request.stopSequences,
    temperature: request.temperature,
    outputTokensMax: request.outputTokensMax,
    outputSchema: request.outputSchema,
    user: request.passedOn['metadata'],
  };
}

describe('a native request', () => {
  it('means the same to a chat upstream', () => {
    assertInTime(
      fc.property(bodies, fc.boolean(), (body, isStream) => {
        const request = decodeNative(body);
        const sent = encodeChatRequest(
          { request, outputTokensMax: 512, isStream },
          'vendor-name',
          'max_completion_tokens',
        );
        const decoded = chatFormat.decodeRequest(JSON.parse(sent), () => undefined);
        const messages = endWithUser(request.messages);
        expect(readRequest(decoded.request)).toEqual(readRequest({ ...request, messages }));
        expect(decoded.request.model).toBe('vendor-name');
        expect(decoded.request.isStream).toBe(isStream);
        expect(decoded.wantsStreamUsage).toBe(isStream);
      }),
      RUNS,
    );
  });

  it('is the same to a native upstream', () => {
    assertInTime(
      fc.property(bodies, (body) => {
        const request = decodeNative(body);
        const call = { request, outputTokensMax: 512, isStream: false };
        expect(decodeNative(JSON.parse(encodeNativeRequest(call, 'opus')))).toEqual(request);
      }),
      RUNS,
    );
  });

  it('has each result right behind the message with its call, as chat upstreams demand', () => {
    assertInTime(
      fc.property(bodies, (body) => {
        const request = decodeNative(body);
        const call = { request, outputTokensMax: 512, isStream: false };
        const { messages } = JSON.parse(encodeChatRequest(call, 'm', 'max_tokens')) as {
          messages: { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[];
        };
        const open: string[] = [];
        for (const message of messages) {
          if (message.role === 'tool') expect(open.shift()).toBe(message.tool_call_id);
          else expect(open).toEqual([]);
          open.push(...(message.tool_calls ?? []).map(({ id }) => id));
        }
        expect(open).toEqual([]);
      }),
      RUNS,
    );
  });
});
