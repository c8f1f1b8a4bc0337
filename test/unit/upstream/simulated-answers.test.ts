import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerCollector } from '../../../src/protocol/answers/answer-collector.ts';
import type { InferenceEvent, InferenceRequest, Tool } from '../../../src/protocol/inference.ts';
import { splitTokens } from '../../../src/upstream/simulated/split-tokens.ts';
import {
  answer,
  ask,
  collect,
  createCall,
  createRequest,
  createUpstream,
} from './simulated-support.ts';

const WEATHER: Tool = {
  name: 'get_weather',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
    required: ['city', 'days'],
  },
};
const CLOCK: Tool = { name: 'get_time' };

describe('an ordinary answer', () => {
  it('says what it is, what it heard and how to get a real one', async () => {
    const { text, finish } = await answer(ask('What  is\nthe weather?'));
    expect(text).toContain('simulated llm-haiku-4.5');
    expect(text).toContain('“What is the weather?”');
    expect(text).toContain('settings file');
    expect(finish).toMatchObject({ stopReason: 'end_turn', stopSequence: undefined });
  });

  it('quotes no more than the beginning of a long message, and no half of a character', async () => {
    const { text } = await answer(ask('😀'.repeat(100_000)));
    expect(text.length).toBeLessThan(400);
    expect(Buffer.from(text).toString()).toBe(text);
  });

  it('is the same for the same seed and request, with ids of its own', async () => {
    const infer = createUpstream();
    const request = ask('[[tool get_weather]] [[thinking]]', { tools: [WEATHER] });
    const [first, second] = [
      await collect(infer(createCall(request))),
      await collect(infer(createCall(request))),
    ];
    const other = await collect(createUpstream()(createCall(request)));
    expect(other).toEqual(first);
    const idOf = (events: InferenceEvent[]) => (events[0]?.type === 'start' ? events[0].id : '');
    expect(idOf(first)).toMatch(/^msg_[0-9a-f]{24}$/);
    expect(idOf(second)).not.toBe(idOf(first));
    const elsewhere = await collect(createUpstream({ instance: 'other' })(createCall(request)));
    expect(idOf(elsewhere)).not.toBe(idOf(first));
    const withoutIds = (events: InferenceEvent[]) =>
      JSON.stringify(events).replaceAll(/(msg|toolu)_\w+|"signature":"[^"]*"/g, '');
    expect(withoutIds(second)).toBe(withoutIds(first));
  });

  it('differs between seeds', async () => {
    const texts = new Set<string>();
    for (let seed = 0; seed < 10; seed++)
      texts.add((await answer(ask('[[tokens 9]]'), { seed })).text);
    expect(texts.size).toBeGreaterThan(5);
  });
});

describe('splitTokens', () => {
  it('loses nothing of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(splitTokens(text).join('')).toBe(text);
      }),
    );
  });
});

describe('the length of an answer', () => {
  it('is as many tokens as the prompt says', async () => {
    const { text, finish } = await answer(ask('[[tokens 200]]'));
    expect(finish.usage.output).toBe(200);
    expect(splitTokens(text)).toHaveLength(200);
    expect(finish.stopReason).toBe('end_turn');
  });

  it('is cut exactly where the request says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(60), fc.integer({ min: 1, max: 60 }), async (tokens, max) => {
        const { finish, deltas } = await answer(
          ask(`[[tokens ${tokens}]]`, { outputTokensMax: max }),
        );
        expect(finish.usage.output).toBe(Math.min(tokens, max));
        expect(deltas).toBe(Math.min(tokens, max));
        expect(finish.stopReason).toBe(tokens > max ? 'max_tokens' : 'end_turn');
      }),
      { numRuns: 50 },
    );
  });

  it('counts thinking, which comes first and ends with a signature', async () => {
    const events = await collect(createUpstream()(createCall(ask('Hi', { isThinking: true }))));
    const signature = events.findIndex(
      (event) => event.type === 'delta' && event.delta.type === 'signature',
    );
    expect(events[1]).toMatchObject({ type: 'block_start', block: { type: 'thinking' } });
    expect(events[signature + 1]).toEqual({ type: 'block_stop', index: 0 });
    const { finish, thinking, text } = await answer(ask('Hi', { isThinking: true }));
    expect(finish.usage.thinking).toBe(splitTokens(thinking).length);
    expect(finish.usage.output).toBe(finish.usage.thinking + splitTokens(text).length);
    const short = await answer(ask('Hi', { isThinking: true, thinkingTokensMax: 5 }));
    expect(short.finish.usage.thinking).toBe(5);
  });
});

describe('stop sequences', () => {
  it('end the text before the first of them', async () => {
    const { text, finish } = await answer(
      ask('Hi', { stopSequences: ['nowhere', 'gateway', 'is'] }),
    );
    expect(text).not.toMatch(/is|gateway/);
    expect(finish).toMatchObject({ stopReason: 'stop_sequence', stopSequence: 'is' });
  });

  it('never stand in the text, whatever they are', async () => {
    const whole = (await answer(ask('Hi'))).text;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.integer({ min: 1, max: 5 }),
        async (at, size) => {
          const stop = whole.slice(at, at + size);
          const { text, finish } = await answer(ask('Hi', { stopSequences: [stop] }));
          expect(text).toBe(whole.slice(0, whole.indexOf(stop)));
          expect(finish).toMatchObject({ stopReason: 'stop_sequence', stopSequence: stop });
        },
      ),
      { numRuns: 50 },
    );
  });

  it('do not count when the answer is cut before them', async () => {
    const request = ask('Hi', { stopSequences: ['settings'], outputTokensMax: 3 });
    expect((await answer(request)).finish).toMatchObject({
      stopReason: 'max_tokens',
      stopSequence: undefined,
    });
  });
});

describe('tool calls', () => {
  const tools = [WEATHER, CLOCK];

  it('are made when the request forces one, with input that fits the schema', async () => {
    const forced = await answer(
      ask('Hi', { tools, toolChoice: { type: 'tool', name: 'get_weather' } }),
    );
    expect(forced.text).toBe('');
    expect(forced.finish.stopReason).toBe('tool_use');
    expect(forced.calls).toEqual([
      {
        type: 'tool_use',
        id: expect.stringMatching(/^toolu_[0-9a-f]{24}$/),
        name: 'get_weather',
        input: { city: expect.any(String), days: expect.any(Number) },
      },
    ]);
    const any = await answer(ask('Hi', { tools: [CLOCK], toolChoice: { type: 'any' } }));
    expect(any.calls).toMatchObject([{ name: 'get_time', input: {} }]);
  });

  it('are made when the prompt asks for them, several at once too', async () => {
    const text = '[[tool get_weather {"city": "Rome ]]", "days": [[1]]}]] and [[tool get_time]]';
    const asked = await answer(ask(text, { tools }));
    expect(asked.calls).toMatchObject([
      { name: 'get_weather', input: { city: 'Rome ]]', days: [[1]] } },
      { name: 'get_time', input: {} },
    ]);
    expect(new Set(asked.calls.map(({ id }) => id)).size).toBe(2);
    const single = await answer(
      ask(text, { tools, toolChoice: { type: 'auto', disable_parallel_tool_use: true } }),
    );
    expect(single.calls).toHaveLength(1);
  });

  it.each<[string, Partial<InferenceRequest>]>([
    ['tools are not to be used', { tools, toolChoice: { type: 'none' } }],
    ['no such tool is offered', { tools: [CLOCK] }],
    ['tools have no names', { tools: [{ type: 'x_toolset' }], toolChoice: { type: 'any' } }],
  ])('are not made when %s', async (_reason, fields) => {
    const { calls, finish } = await answer(ask('[[tool get_weather]]', fields));
    expect(calls).toEqual([]);
    expect(finish.stopReason).toBe('end_turn');
  });

  it('lead on to an answer that mentions their results', async () => {
    const request = createRequest({
      tools,
      messages: [
        { role: 'user', content: '[[tool get_weather]]' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' },
            { type: 'tool_result', tool_use_id: 'toolu_2', content: 'late', is_error: true },
          ],
        },
      ],
    });
    const { text, calls, finish } = await answer(request);
    expect(text).toContain('get_weather said “sunny”');
    expect(text).toContain('failed and said “late”');
    expect(calls).toEqual([]);
    expect(finish.stopReason).toBe('end_turn');
  });
});

describe('structured output', () => {
  it('is JSON that satisfies the schema, or any object', async () => {
    const { text } = await answer(ask('A person', { outputSchema: WEATHER.input_schema }));
    expect(JSON.parse(text)).toEqual({ city: expect.any(String), days: expect.any(Number) });
    expect(JSON.parse((await answer(ask('JSON', { outputSchema: true }))).text)).toBeTypeOf(
      'object',
    );
  });
});

describe('the events of an answer', () => {
  const anyRequest = fc
    .record({
      text: fc.subarray([
        '[[tokens 7]]',
        '[[thinking]]',
        '[[tool get_weather]]',
        '[[tool get_time]]',
        'x',
      ]),
      outputTokensMax: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
      stopSequences: fc.subarray(['a', ' ', '. ', '{']),
      toolChoice: fc.constantFrom(
        undefined,
        { type: 'any' as const },
        { type: 'none' as const },
        { type: 'tool' as const, name: 'get_time' },
      ),
      isThinking: fc.boolean(),
      outputSchema: fc.constantFrom(undefined, true as const, { type: 'integer' }),
    })
    .map(({ text, ...fields }) => ask(text.join(' '), { ...fields, tools: [WEATHER, CLOCK] }));

  it('come in legal order, with usage that adds up, whatever is asked', async () => {
    await fc.assert(
      fc.asyncProperty(anyRequest, async (request) => {
        const events = await collect(createUpstream()(createCall(request)));
        const collector = createAnswerCollector();
        for (const event of events) collector.add(event);
        expect(collector.finish().usage.output).toBeTypeOf('number');
        const letters = events.map(letterOf).join('');
        expect(letters).toMatch(/^s(b(d*g?)e)*f$/);
        const starts = events.flatMap((event) =>
          event.type === 'block_start' ? [event.index] : [],
        );
        expect(starts).toEqual(starts.map((_, index) => index));
        const finish = events.at(-1);
        const outputs = [...letters].filter((letter) => letter === 'd').length;
        expect(finish).toMatchObject({ usage: { output: outputs } });
        if (request.outputTokensMax !== undefined) {
          expect(outputs).toBeLessThanOrEqual(request.outputTokensMax);
        }
      }),
    );
  });

  function letterOf(event: InferenceEvent): string {
    switch (event.type) {
      case 'start':
        return 's';
      case 'block_start':
        return 'b';
      case 'delta':
        return event.delta.type === 'signature' ? 'g' : 'd';
      case 'block_stop':
        return 'e';
      case 'usage':
        return 'u';
      case 'finish':
        return 'f';
    }
  }
});
